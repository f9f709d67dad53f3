// The Python module autofuse._scan; autofuse/scan/scanner.py and meter.py say what it computes.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "scanner.hpp"

namespace nb = nanobind;

namespace {

using autofuse::Kernel;

// A range of a buffer that stays where it is while it is read without the interpreter lock.
class Range {
  public:
    Range(nb::handle object, int64_t start, int64_t end) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
        if (start < 0 || end < start || end > view_.len) {
            PyBuffer_Release(&view_);
            throw std::invalid_argument("the range is not inside the block");
        }
    }
    ~Range() { PyBuffer_Release(&view_); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;

    const uint8_t* data() const { return static_cast<const uint8_t*>(view_.buf); }

  private:
    Py_buffer view_;
};

const Kernel& kernel_of(const std::string& name) {
    for (const Kernel& kernel : autofuse::kernels()) {
        if (name == "auto" || name == kernel.name) return kernel;
    }
    throw std::invalid_argument("no such kernel on this processor: " + name);
}

std::vector<std::string> literals_of(const std::vector<nb::bytes>& markers) {
    std::vector<std::string> literals;
    for (const nb::bytes& marker : markers) {
        std::string literal(marker.c_str(), marker.size());
        if (literal.empty() || literal.find_first_of("\r\n") != std::string::npos) {
            throw std::invalid_argument("a marker is at least one byte and holds no line end");
        }
        literals.push_back(std::move(literal));
    }
    return literals;
}

class Scanner {
  public:
    Scanner(const std::vector<nb::bytes>& markers, const std::string& kernel)
        : scanner_(literals_of(markers), kernel_of(kernel)) {}

    nb::bytes scan(nb::handle block, int64_t start, int64_t end, int64_t first_line) const {
        const Range range(block, start, end);
        autofuse::Rows rows;
        {
            nb::gil_scoped_release unlocked;
            scanner_.scan(range.data(), start, end, first_line, rows);
        }
        return nb::bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(int64_t));
    }

    const char* kernel() const { return scanner_.kernel().name; }

  private:
    const autofuse::Scanner scanner_;
};

class Meter {
  public:
    explicit Meter(const std::string& kernel) : kernel_(kernel_of(kernel)) {}

    int64_t feed(nb::handle block, int64_t start, int64_t end) {
        const Range range(block, start, end);
        nb::gil_scoped_release unlocked;
        return kernel_.measure(meter_, range.data(), start, end);
    }

    void finish() { meter_.finish(); }
    int64_t undecodable() const { return meter_.undecodable; }

  private:
    autofuse::Meter meter_;
    const Kernel& kernel_;
};

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const Kernel& kernel : autofuse::kernels()) names.emplace_back(kernel.name);
    return names;
}

}  // namespace

NB_MODULE(_scan, module) {
    // A reading thread that is blocked when the program is interrupted still holds its meter; that is no leak to report.
    nb::set_leak_warnings(false);
    module.doc() = "Finds the lines that hold one of many literals; see autofuse.scan.scanner.";
    module.def("kernels", &kernel_names, "Names of the kernels that this processor runs, the fastest first.");
    nb::class_<Scanner>(module, "Scanner")
        .def(nb::init<const std::vector<nb::bytes>&, const std::string&>(), nb::arg("markers"), nb::arg("kernel") = "auto")
        .def("scan", &Scanner::scan, nb::arg("block"), nb::arg("start"), nb::arg("end"), nb::arg("first_line"))
        .def_prop_ro("kernel", &Scanner::kernel);
    nb::class_<Meter>(module, "Meter")
        .def(nb::init<const std::string&>(), nb::arg("kernel") = "auto")
        .def("feed", &Meter::feed, nb::arg("block"), nb::arg("start"), nb::arg("end"))
        .def("finish", &Meter::finish)
        .def_prop_ro("undecodable", &Meter::undecodable);
}
