// The Python binding: takes arrays as addresses and strides (dtypes such as bfloat16 have no buffer protocol), gives sums.
//
// `metrics.native` is the only caller; it keeps the arrays alive and has checked shapes and dtypes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <tuple>

#include "engine.h"

namespace nb = nanobind;
using namespace precision;

namespace {

using Dims = std::vector<int64_t>;
using PieceTuple = std::tuple<uintptr_t, uintptr_t, Dims, Dims, Dims, Dims, int64_t>;
using SideTuple = std::tuple<int, size_t, size_t, bool, uintptr_t>;  // code, item, component, swapped, table
using OptionTuple = std::tuple<int, bool, bool, bool, bool, double, double, int>;

Piece piece_of(const PieceTuple& from) {
    Piece piece;
    piece.data[0] = reinterpret_cast<const char*>(std::get<0>(from));
    piece.data[1] = reinterpret_cast<const char*>(std::get<1>(from));
    piece.extent = std::get<2>(from);
    piece.stride[0] = std::get<3>(from);
    piece.stride[1] = std::get<4>(from);
    piece.step = std::get<5>(from);
    piece.base = std::get<6>(from);
    const size_t dims = piece.extent.size();
    if (piece.stride[0].size() != dims || piece.stride[1].size() != dims || piece.step.size() != dims || dims > kMaxDims)
        throw std::invalid_argument("dimensions of a piece disagree");
    return piece;
}

Side side_of(const SideTuple& from) {
    Side side;
    std::tie(side.code, side.item, side.component, side.swapped, std::ignore) = from;
    side.table = reinterpret_cast<const void*>(std::get<4>(from));
    if (side.item > 16 || side.item == 0 || side.component == 0) throw std::invalid_argument("element size");
    return side;
}

nb::object integer(UInt128 value) {
    const nb::int_ high{uint64_t(value >> 64)}, low{uint64_t(value)};
    return (high << nb::int_(64)) | low;
}

nb::object integer(const WideSum& sum) {
    const bool negative = sum.high < 0;
    const nb::object high = integer(negative ? UInt128(-sum.high) : UInt128(sum.high));
    const nb::object shifted = high << nb::int_(64);
    return negative ? integer(sum.low) - shifted : integer(sum.low) + shifted;
}

nb::object scaled(const ScaledSum& sum) { return nb::make_tuple(sum.sum + sum.carry, sum.power); }

nb::object counts(const Counts& from) { return nb::make_tuple(from.nan, from.pos_inf, from.neg_inf); }

nb::object position(int64_t number) { return number < 0 ? nb::none() : nb::object(nb::int_(number)); }

nb::dict result_of(const Totals& totals, Family family) {
    nb::dict result;
    const bool ints = family == Family::kInt;
    result["dot"] = ints ? integer(totals.dot) : scaled(totals.floats.dot);
    result["square_a"] = ints ? integer(totals.square_a) : scaled(totals.floats.square_a);
    result["square_b"] = ints ? integer(totals.square_b) : scaled(totals.floats.square_b);
    result["square_diff"] = ints ? nb::object(nb::none()) : scaled(totals.floats.square_diff);
    result["total_diff"] = ints ? integer(totals.total_diff) : scaled(totals.floats.total_diff);
    result["max_diff"] = ints ? integer(totals.max_int_diff.value) : nb::object(nb::float_(totals.max_diff.value));
    result["max_diff_at"] = position(ints ? totals.max_int_diff.at : totals.max_diff.at);
    result["compared"] = totals.compared;
    result["max_rel"] = totals.max_rel;
    result["nonfinite_a"] = counts(totals.nonfinite_a);
    result["nonfinite_b"] = counts(totals.nonfinite_b);
    result["nonfinite_equal"] = counts(totals.nonfinite_equal);
    result["nan_mismatches"] = totals.nan_mismatches;
    result["inf_mismatches"] = totals.inf_mismatches;
    result["first_nan_mismatch"] = position(totals.first_nan_mismatch);
    result["first_inf_mismatch"] = position(totals.first_inf_mismatch);
    result["violations"] = totals.violations;
    result["bit_equal"] = totals.bit_equal;
    result["max_ulp"] = totals.max_ulp;
    result["zeros_b"] = totals.zeros_b;
    result["equal"] = totals.equal;
    result["over_1_permille"] = totals.over_1;
    result["over_5_permille"] = totals.over_5;
    result["rtol_needed"] = totals.rtol_needed;
    result["bins"] = nb::bytes(reinterpret_cast<const char*>(totals.bins.data()), totals.bins.size() * sizeof(int64_t));
    return result;
}

bool interrupted() {
    const nb::gil_scoped_acquire hold;
    return PyErr_CheckSignals() != 0;
}

nb::dict accumulate_pieces(
    const std::vector<PieceTuple>& pieces, const SideTuple& a, const SideTuple& b, const OptionTuple& options) {
    Request request;
    request.sides[0] = side_of(a);
    request.sides[1] = side_of(b);
    int family = 0;
    std::tie(family, request.everything, request.tolerances, request.same_type, request.ulp, request.rtol, request.atol,
             request.threads) = options;
    request.family = Family(family);
    std::vector<Piece> parts;
    parts.reserve(pieces.size());
    for (const PieceTuple& piece : pieces) parts.push_back(piece_of(piece));
    Totals totals;
    {
        const nb::gil_scoped_release release;
        totals = accumulate(parts, request, interrupted);
    }
    if (PyErr_Occurred()) throw nb::python_error();
    return result_of(totals, request.family);
}

}  // namespace

NB_MODULE(_kernel, module) {
    module.def("accumulate", &accumulate_pieces, nb::arg("pieces"), nb::arg("a"), nb::arg("b"), nb::arg("options"),
               "The sums over all pieces of one comparison.");
    module.def("instruction_set", [] { return std::string(block_ops().name); }, "The block functions in use.");
}
