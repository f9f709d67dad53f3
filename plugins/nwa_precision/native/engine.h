// One comparison: walks all pieces on several threads and adds up what Python finishes to measures.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernel.h"
#include "walk.h"

namespace precision {

using Int128 = __int128;
using UInt128 = unsigned __int128;

// A float sum times a power of two, with the rounding errors of its additions carried along (Neumaier).
struct ScaledSum {
    double sum = 0, carry = 0;
    int power = 0;

    void add(double value, int value_power);
    void add(const ScaledSum& other);
};

// A sum of 128-bit products: low * 1 + high * 2^64, each half with room for 2^63 terms.
struct WideSum {
    UInt128 low = 0;
    Int128 high = 0;

    void add(Int128 value);
    void add(UInt128 value);
    void add(const WideSum& other);
};

struct Counts {
    int64_t nan = 0, pos_inf = 0, neg_inf = 0;

    void add(const Counts& other);
};

// The largest difference and the lowest number of an element that has it.
template <typename Value>
struct Largest {
    Value value = 0;
    int64_t at = -1;

    void offer(Value other, int64_t other_at) {
        if (other_at < 0 || other < value || other == 0) return;
        if (other > value || at < 0 || other_at < at) value = other, at = other_at;
    }
};

// Sums that depend on the order of addition are kept per chunk and joined in the order of chunks.
struct FloatSums {
    ScaledSum dot, square_a, square_b, square_diff, total_diff;
};

struct Totals {
    int64_t compared = 0;
    FloatSums floats;
    WideSum dot, square_a, square_b, total_diff;
    Largest<double> max_diff;
    Largest<UInt128> max_int_diff;
    double max_rel = 0;
    Counts nonfinite_a, nonfinite_b, nonfinite_equal;
    int64_t nan_mismatches = 0, inf_mismatches = 0;
    int64_t first_nan_mismatch = -1, first_inf_mismatch = -1;
    bool bit_equal = true;
    uint64_t max_ulp = 0;
    int64_t equal = 0, zeros_b = 0, over_1 = 0, over_5 = 0, violations = 0;
    double rtol_needed = 0;
    std::vector<int64_t> bins;

    void add(const Totals& other);
};

enum class Family { kInt, kReal, kComplex };

struct Request {
    Side sides[2];
    Family family = Family::kReal;
    bool everything = true;   // all measures, or the basic ones
    bool tolerances = false;  // count violations of atol + rtol |b|
    bool same_type = false;   // bit equality is defined
    bool ulp = false;         // the distance in representable values is defined
    double rtol = 0, atol = 0;
    int threads = 1;
};

// `interrupted` is asked now and then on the calling thread; when it says true the work stops and the totals are void.
Totals accumulate(const std::vector<Piece>& pieces, const Request& request, const std::function<bool()>& interrupted);

}  // namespace precision
