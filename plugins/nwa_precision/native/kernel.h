// What the parts of the metric kernel share: element types, the sums of one comparison, and the table of block functions
// that each instruction set provides. No part of the standard library is used here: this header is compiled for several
// instruction sets, and an inline function of a common header must never be linked from the wrong one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace precision {

// The numbers of autofuse_nwa_precision.metrics.values.Code.
enum Code : int {
    kBool, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kBF16, kF32, kF64, kC32, kC64, kC128, kFloatTable, kIntTable,
};

constexpr double kEpsilon = 1e-8;       // of the published relative error
constexpr size_t kBlock = 1024;         // elements per block; its float64 arrays stay in the first-level cache
constexpr int kSubBins = 32;            // bins of the relative error per octave
constexpr int kFirstOctave = -64;
constexpr int kOctaves = 66;            // a relative error is at most 2
constexpr int kBins = 1 + kOctaves * kSubBins;
constexpr int kBinShift = 52 - 5;       // exponent and first five mantissa bits of a double are its bin
constexpr int64_t kFirstBin = int64_t(1023 + kFirstOctave) * kSubBins;
constexpr int kHistograms = 4;          // neighbours count in different tables: one counter is not awaited by the next

struct RealSums {
    double dot, square_a, square_b, square_diff, total_diff;
    double max_diff, max_rel;
};

// Sums of products of integers below 2^33, in halves: low + high * 2^32. `total_diff` and `max_diff` fit as they are.
struct IntSums {
    uint64_t dot_low, square_a_low, square_b_low;
    int64_t dot_high, square_a_high, square_b_high;
    uint64_t total_diff, max_diff;
};

struct Nonfinite {
    int64_t nan, pos_inf, neg_inf;
};

// Of the elements of a block that are not finite on one side or both.
struct NonfiniteCounts {
    Nonfinite a, b, equal;
    int64_t elements, zeros_b;
};

struct Rule {
    double atol, rtol, rtol_needed;
    int64_t violations;
    bool over;  // some element breaks the rule with rtol_needed
};

struct Distribution {
    int64_t equal, zeros_b, over_1, over_5;
    uint32_t histogram[kHistograms][kBins];
};

// All block functions take up to kBlock elements. Decoding fills up to a multiple of kPad with 0; arithmetic takes such n.
constexpr size_t kPad = 16;

struct BlockOps {
    const char* name;
    // Elements of one type, decoded and padded; `table` has 256 float32 (kFloatTable) or int32 (kIntTable) values. Gives a
    // bound of their size: infinity when one is not finite, for float64 the largest size.
    double (*to_double)(int code, const void* raw, const void* table, double* out, size_t n);
    void (*to_int64)(int code, const void* raw, const void* table, int64_t* out, size_t n);
    void (*split_complex)(int code, const void* raw, double* real, double* imag, size_t n);
    bool (*all_finite)(const double* values, size_t n);
    // Counts the elements that are not finite on both sides; `leave_out` sets them to 0 on both.
    void (*count_nonfinite)(const double* a, const double* b, size_t n, NonfiniteCounts* counts);
    void (*leave_out)(double* a, double* b, size_t n);
    double (*max_abs)(const double* values, size_t n);
    void (*scale)(const double* values, double factor, double* out, size_t n);
    double (*inner)(const double* a, const double* b, size_t n);
    double (*total)(const double* values, size_t n);
    void (*modulus)(const double* real, const double* imag, double* out, size_t n);  // any n
    // Sums of real numbers with everything their elements contribute; differences must be finite.
    void (*real_rated)(const double* a, const double* b, size_t n, RealSums* sums, Distribution* counts, Rule* rule);
    // Sums and maxima only; `max_rel` of `sums` is where the search for a larger one starts.
    void (*real_basic)(const double* a, const double* b, size_t n, RealSums* sums);
    // How many elements break |a-b| <= atol + rtol |b|.
    int64_t (*real_broken)(const double* a, const double* b, size_t n, double atol, double rtol);
    // The same from |a-b|, |a| and |b|; they give the largest relative error.
    double (*sizes_rated)(const double* size, const double* size_a, const double* size_b, size_t n, Distribution* counts,
                          Rule* rule);
    double (*sizes_basic)(const double* size, const double* size_a, const double* size_b, size_t n);
    int64_t (*sizes_broken)(const double* size, const double* size_b, size_t n, double atol, double rtol);
    // Sums of integers of at most 32 bits; writes |a-b|, |a| and |b| as well. `both_unsigned`: products may need all 64 bits.
    void (*int_sums)(const int64_t* a, const int64_t* b, bool both_unsigned, double* size, double* size_a, double* size_b,
                     size_t n, IntSums* sums);
    uint64_t (*ulp16)(const void* a, const void* b, uint16_t infinity, size_t n);  // any n
    uint64_t (*ulp32)(const void* a, const void* b, size_t n);
    uint64_t (*ulp64)(const void* a, const void* b, size_t n);
};

// The best table that this processor can run.
const BlockOps& block_ops();

}  // namespace precision
