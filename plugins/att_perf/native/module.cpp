// Python module autofuse_att_perf._perf: compiled functions of generated code as objects.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstring>

#include "tape.h"

namespace nb = nanobind;

namespace {

nb::bytes Raw(const std::vector<int32_t> &values) {
  return nb::bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(int32_t));
}

nb::object Number(const perf::Input &input, perf::CType type) {
  if (type == perf::CType::Bool) return nb::bool_(input.value.i != 0);
  return input.is_integer ? nb::object(nb::int_(input.value.i)) : nb::object(nb::float_(input.value.d));
}

// False for an integer beyond int64.
bool Read(nb::handle value, perf::Input &input) {
  if (PyLong_Check(value.ptr())) {
    int overflow = 0;
    input.is_integer = true;
    input.value.i = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    return overflow == 0;
  }
  input.is_integer = false;
  input.value.d = PyFloat_AsDouble(value.ptr());
  return !PyErr_Occurred();
}

bool ReadAll(nb::sequence values, std::vector<perf::Input> &inputs) {
  inputs.resize(nb::len(values));
  size_t index = 0;
  for (nb::handle value : values) {
    if (!Read(value, inputs[index++])) return false;
  }
  return true;
}

struct Program {
  perf::Tape tape;

  nb::tuple Arrays() const {
    return nb::make_tuple(Raw(tape.ops), Raw(tape.a), Raw(tape.b), Raw(tape.c), Raw(tape.types), Raw(tape.starts),
                          Raw(tape.ends));
  }

  nb::list Consts() const {
    std::vector<perf::CType> types(tape.consts.size(), perf::CType::F64);
    for (size_t slot = 0; slot < tape.ops.size(); ++slot) {
      if (tape.ops[slot] == 0) types[static_cast<size_t>(tape.a[slot])] = static_cast<perf::CType>(tape.types[slot]);
    }
    nb::list found;
    for (size_t index = 0; index < types.size(); ++index) found.append(Number(tape.consts[index], types[index]));
    return found;
  }

  nb::list Symbols() const {
    nb::list found;
    for (const std::string &symbol : tape.symbols) found.append(nb::str(symbol.data(), symbol.size()));
    return found;
  }

  nb::list SymbolSlots() const {
    nb::list found;
    for (int32_t slot : tape.symbol_slots) found.append(slot);
    return found;
  }

  nb::dict Names() const {
    nb::dict found;
    for (const auto &name : tape.names) found[nb::int_(name.first)] = nb::str(name.second.data(), name.second.size());
    return found;
  }

  nb::dict Pipes() const {
    nb::dict found;
    for (const auto &pipe : tape.pipes) found[nb::str(pipe.first.data(), pipe.first.size())] = pipe.second;
    return found;
  }

  // The leaves of `a number + contributions`, first one first: (slot, name), the name empty for a number. None for
  // anything else.
  nb::object Flat(int32_t slot) const {
    std::vector<std::pair<int32_t, const std::string *>> leaves;
    if (slot < 0 || !perf::FlatSum(tape, slot, leaves)) return nb::none();
    nb::list found;
    for (auto leaf = leaves.rbegin(); leaf != leaves.rend(); ++leaf) {
      nb::str name = leaf->second == nullptr ? nb::str("") : nb::str(leaf->second->data(), leaf->second->size());
      found.append(nb::make_tuple(leaf->first, name));
    }
    return found;
  }

  // Every slot as a double, or None when only the Python evaluator can tell.
  nb::object Run(nb::sequence values) const {
    std::vector<perf::Input> inputs;
    std::vector<perf::Value> slots;
    if (!ReadAll(values, inputs) || !perf::Run(tape, inputs, slots)) return Failed();
    std::vector<double> doubles(slots.size());
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      doubles[slot] = perf::AsDouble(tape, static_cast<int32_t>(slot), slots[slot]);
    }
    return nb::bytes(reinterpret_cast<const char *>(doubles.data()), doubles.size() * sizeof(double));
  }

  // What the function returns, or None.
  nb::object ResultOf(nb::sequence values) const {
    std::vector<perf::Input> inputs;
    std::vector<perf::Value> slots;
    if (tape.result < 0 || !ReadAll(values, inputs) || !perf::Run(tape, inputs, slots)) return Failed();
    return nb::float_(perf::AsDouble(tape, tape.result, slots[static_cast<size_t>(tape.result)]));
  }

  // For each (symbol, value): the wanted slots as doubles, row by row in one buffer.
  nb::object RunChanges(nb::sequence values, nb::sequence changes, nb::sequence wanted) const {
    std::vector<perf::Input> inputs;
    std::vector<perf::Value> slots;
    std::vector<double> found;
    std::vector<int32_t> columns;
    for (nb::handle slot : wanted) columns.push_back(nb::cast<int32_t>(slot));
    bool good = ReadAll(values, inputs);
    for (nb::handle change : changes) {
      const nb::tuple pair = nb::cast<nb::tuple>(change);
      const size_t symbol = nb::cast<size_t>(pair[0]);
      perf::Input changed;
      if (!good || symbol >= inputs.size() || !Read(pair[1], changed)) return Failed();
      std::swap(inputs[symbol], changed);
      good = perf::Run(tape, inputs, slots);
      std::swap(inputs[symbol], changed);
      if (!good) return Failed();
      for (int32_t slot : columns) found.push_back(perf::AsDouble(tape, slot, slots[static_cast<size_t>(slot)]));
    }
    return nb::bytes(reinterpret_cast<const char *>(found.data()), found.size() * sizeof(double));
  }

  static nb::object Failed() {
    PyErr_Clear();
    return nb::none();
  }
};

// (name, text, offset, ((parameter, type), …), type of the result); `keep` owns the text.
perf::Body ReadBody(nb::tuple given) {
  perf::Body body;
  body.name = nb::cast<std::string>(given[0]);
  Py_ssize_t size = 0;
  body.text = PyUnicode_AsUTF8AndSize(nb::object(given[1]).ptr(), &size);
  if (body.text == nullptr) throw nb::python_error();
  body.size = static_cast<size_t>(size);
  body.offset = nb::cast<int32_t>(given[2]);
  for (nb::handle item : nb::cast<nb::tuple>(given[3])) {
    const nb::tuple pair = nb::cast<nb::tuple>(item);
    body.parameters.push_back({nb::cast<std::string>(pair[0]), static_cast<perf::CType>(nb::cast<int32_t>(pair[1]))});
  }
  body.result = static_cast<perf::CType>(nb::cast<int32_t>(given[4]));
  return body;
}

// A copy of an ASCII string without its comments.
nb::object Blank(nb::str text) {
  const Py_ssize_t size = PyUnicode_GET_LENGTH(text.ptr());
  PyObject *copy = PyUnicode_New(size, 127);
  if (copy == nullptr) throw nb::python_error();
  char *bytes = static_cast<char *>(PyUnicode_DATA(copy));
  std::memcpy(bytes, PyUnicode_DATA(text.ptr()), static_cast<size_t>(size));
  perf::BlankComments(bytes, static_cast<size_t>(size));
  return nb::steal(copy);
}

nb::object Compile(nb::tuple function, nb::object mapping) {
  const perf::Body body = ReadBody(function);
  Program program;
  bool compiled = false;
  if (mapping.is_none()) {
    compiled = perf::Compile(body, nullptr, program.tape);
  } else {
    const perf::Body feeder = ReadBody(nb::cast<nb::tuple>(mapping));
    compiled = perf::Compile(body, &feeder, program.tape);
  }
  return compiled ? nb::cast(std::move(program)) : nb::object(nb::none());
}

}  // namespace

NB_MODULE(_perf, module) {
  nb::set_leak_warnings(false);
  module.doc() = "Native twin of the formula compiler and evaluator.";
  module.attr("version") = 3;  // native.py asks for it
  nb::class_<Program>(module, "Program")
      .def_prop_ro("arrays", &Program::Arrays)
      .def_prop_ro("consts", &Program::Consts)
      .def_prop_ro("symbols", &Program::Symbols)
      .def_prop_ro("symbol_slots", &Program::SymbolSlots)
      .def_prop_ro("names", &Program::Names)
      .def_prop_ro("pipes", &Program::Pipes)
      .def_prop_ro("result", [](const Program &self) { return self.tape.result; })
      .def_prop_ro("mapping_end", [](const Program &self) { return self.tape.mapping_end; })
      .def("flat", &Program::Flat, nb::arg("slot"))
      .def("run", &Program::Run, nb::arg("values"))
      .def("result_of", &Program::ResultOf, nb::arg("values"))
      .def("run_changes", &Program::RunChanges, nb::arg("values"), nb::arg("changes"), nb::arg("slots"));
  module.def("blank", &Blank, nb::arg("text"));
  module.def("compile", &Compile, nb::arg("function"), nb::arg("mapping").none());
}
