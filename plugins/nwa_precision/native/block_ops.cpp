// The arithmetic on one block of elements, compiled once for each instruction set (KERNEL_ISA names it).
//
// Float sums keep one partial sum per vector lane in float64. Only sums use fused multiply-add, so every element-wise result
// is the same on every machine and in numpy. Only functions without linkage: see kernel.h.
#include "decode.h"
#include "kernel.h"
#include "lanes.h"

#ifndef KERNEL_ISA
#define KERNEL_ISA baseline
#endif
#define KERNEL_NAME_(isa) block_ops_##isa
#define KERNEL_NAME(isa) KERNEL_NAME_(isa)
#define KERNEL_TEXT_(isa) #isa
#define KERNEL_TEXT(isa) KERNEL_TEXT_(isa)

namespace precision {
namespace {

// --- numbers that are not finite ----------------------------------------------------------------------------------

inline Longs finite(Doubles value) { return size_of(value) < kInfinity; }

struct NonfiniteVectors {
    Longs nan = {}, pos_inf = {}, neg_inf = {};

    inline void add(Longs is_nan, Longs is_pos_inf, Longs is_neg_inf) {
        nan -= is_nan;
        pos_inf -= is_pos_inf;
        neg_inf -= is_neg_inf;
    }

    Nonfinite finish() const { return {sum_of(nan), sum_of(pos_inf), sum_of(neg_inf)}; }
};

void count_nonfinite(const double* a_in, const double* b_in, size_t n, NonfiniteCounts* counts) {
    NonfiniteVectors in_a, in_b, equal;
    Longs elements = {}, zeros_b = {};
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles a = load(a_in + i), b = load(b_in + i);
        const Longs nan_a = a != a, nan_b = b != b, pos_a = a == kInfinity, pos_b = b == kInfinity;
        const Longs neg_a = a == -kInfinity, neg_b = b == -kInfinity;
        in_a.add(nan_a, pos_a, neg_a);
        in_b.add(nan_b, pos_b, neg_b);
        equal.add(nan_a & nan_b, pos_a & pos_b, neg_a & neg_b);
        elements -= ~(finite(a) & finite(b));
        zeros_b -= ~finite(a) & (b == 0.0);
    }
    *counts = {in_a.finish(), in_b.finish(), equal.finish(), sum_of(elements), sum_of(zeros_b)};
}

void leave_out(double* a, double* b, size_t n) {
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles x = load(a + i), y = load(b + i);
        const Longs kept = finite(x) & finite(y);
        store(a + i, (Doubles)((Longs)x & kept));
        store(b + i, (Doubles)((Longs)y & kept));
    }
}

// --- what every element contributes -------------------------------------------------------------------------------

// The relative errors of one pass: counts, histogram and the rule.
class Rater {
public:
    Rater(Distribution* counts, const Rule& rule) : counts_(counts), rule_(rule) {}

    inline void add(Doubles error, Doubles apart, Doubles size_b) {
        equal_ -= apart == 0.0;
        zeros_ -= size_b == 0.0;
        over_1_ -= error > 1e-3;
        over_5_ -= error > 5e-3;
        max_rel_ = larger_of(error, max_rel_);
        violations_ -= ~(apart <= rule_.atol + rule_.rtol * size_b);
        over_ |= ~(apart <= rule_.atol + rule_.rtol_needed * size_b);
        // A relative error is at most 2, so that only the lower end needs a limit.
        const Longs bin = ((Longs)error >> kBinShift) - (kFirstBin - 1), limited = bin & (bin > 0);
        memcpy(bins_ + count_, &limited, sizeof limited);
        count_ += kLanes;
    }

    double finish(Rule* rule) const {
        // Apart from the vectors: between them, counters that follow each other closely would hold them up.
        static_assert(kPad % kHistograms == 0, "blocks are padded to full rounds");
        for (size_t i = 0; i < count_; i += kHistograms)
            for (int table = 0; table < kHistograms; ++table) ++counts_->histogram[table][bins_[i + table]];
        counts_->equal += sum_of(equal_);
        counts_->zeros_b += sum_of(zeros_);
        counts_->over_1 += sum_of(over_1_);
        counts_->over_5 += sum_of(over_5_);
        rule->violations += sum_of(violations_);
        rule->over = sum_of(over_) != 0;
        return max_of(max_rel_);
    }

private:
    Distribution* counts_;
    const Rule rule_;
    Longs equal_ = {}, zeros_ = {}, over_1_ = {}, over_5_ = {}, violations_ = {}, over_ = {};
    Doubles max_rel_ = {};
    int64_t bins_[kBlock];
    size_t count_ = 0;
};

double sizes_rated(const double* size, const double* size_a, const double* size_b, size_t n, Distribution* counts, Rule* rule) {
    Rater rater(counts, *rule);
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles apart = load(size + i), b = load(size_b + i);
        rater.add(apart / (larger_of(load(size_a + i), b) + kEpsilon), apart, b);
    }
    return rater.finish(rule);
}

double sizes_basic(const double* size, const double* size_a, const double* size_b, size_t n) {
    Doubles largest = {};
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles larger = larger_of(load(size_a + i), load(size_b + i)) + kEpsilon;
        largest = larger_of(load(size + i) / larger, largest);
    }
    return max_of(largest);
}

int64_t sizes_broken(const double* size, const double* size_b, size_t n, double atol, double rtol) {
    Longs violations = {};
    for (size_t i = 0; i < n; i += kLanes) violations -= ~(load(size + i) <= atol + rtol * load(size_b + i));
    return sum_of(violations);
}

// --- real numbers -------------------------------------------------------------------------------------------------

struct Accumulators {
    Doubles dot = {}, square_a = {}, square_b = {}, square_diff = {}, total = {}, max_diff = {};

    inline Doubles add(Doubles a, Doubles b) {
        const Doubles diff = a - b, size = size_of(diff);
        dot = multiply_add(a, b, dot);
        square_a = multiply_add(a, a, square_a);
        square_b = multiply_add(b, b, square_b);
        square_diff = multiply_add(diff, diff, square_diff);
        total += size;
        max_diff = larger_of(size, max_diff);
        return size;
    }

    void finish(double max_rel, RealSums* out) const {
        *out = {sum_of(dot), sum_of(square_a), sum_of(square_b), sum_of(square_diff), sum_of(total), max_of(max_diff), max_rel};
    }
};

void real_rated(const double* a, const double* b, size_t n, RealSums* out, Distribution* counts, Rule* rule) {
    Accumulators sums;
    Rater rater(counts, *rule);
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles x = load(a + i), y = load(b + i), apart = sums.add(x, y);
        rater.add(apart / (larger_size_of(x, y) + kEpsilon), apart, size_of(y));
    }
    sums.finish(rater.finish(rule), out);
}

// Division is the slowest step. It is left to the strips that may hold a larger error than the largest so far: how much a
// difference exceeds the product is looked at with some room for rounding.
void real_basic(const double* a, const double* b, size_t n, RealSums* out) {
    Accumulators sums;
    constexpr size_t kStrip = 32 * kLanes;
    double max_rel = out->max_rel;
    for (size_t start = 0; start < n; start += kStrip) {
        const size_t end = start + kStrip < n ? start + kStrip : n;
        const Doubles reach = Doubles{} - max_rel * (1 - 0x1p-48);
        Doubles excess = {};
        for (size_t i = start; i < end; i += kLanes) {
            const Doubles x = load(a + i), y = load(b + i), apart = sums.add(x, y);
            excess = larger_of(multiply_add(reach, larger_size_of(x, y) + kEpsilon, apart), excess);
        }
        if (max_of(excess) == 0) continue;
        Doubles largest = Doubles{} + max_rel;
        for (size_t i = start; i < end; i += kLanes) {
            const Doubles x = load(a + i), y = load(b + i);
            largest = larger_of(size_of(x - y) / (larger_size_of(x, y) + kEpsilon), largest);
        }
        max_rel = max_of(largest);
    }
    sums.finish(max_rel, out);
}

int64_t real_broken(const double* a, const double* b, size_t n, double atol, double rtol) {
    Longs violations = {};
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles y = load(b + i);
        violations -= ~(size_of(load(a + i) - y) <= atol + rtol * size_of(y));
    }
    return sum_of(violations);
}

// --- parts of complex numbers and of scaled blocks ------------------------------------------------------------------

void scale(const double* values, double factor, double* out, size_t n) {
    for (size_t i = 0; i < n; i += kLanes) store(out + i, load(values + i) * factor);
}

double inner(const double* a, const double* b, size_t n) {
    Doubles sum = {};
    for (size_t i = 0; i < n; i += kLanes) sum = multiply_add(load(a + i), load(b + i), sum);
    return sum_of(sum);
}

double total(const double* values, size_t n) {
    Doubles sum = {};
    for (size_t i = 0; i < n; i += kLanes) sum += size_of(load(values + i));
    return sum_of(sum);
}

// larger * sqrt(1 + (smaller / larger)^2): overflows only where the modulus does, and never underflows to 0.
void modulus(const double* real, const double* imag, double* out, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        const double x = __builtin_fabs(real[i]), y = __builtin_fabs(imag[i]);
        const double larger = x > y ? x : y, smaller = x > y ? y : x;
        const double ratio = smaller / (larger == 0 ? 1.0 : larger);
        out[i] = larger * __builtin_sqrt(1.0 + ratio * ratio);
    }
}

// --- integers of at most 32 bits ----------------------------------------------------------------------------------

// Products as `Product` (signed or unsigned), cut in halves that a block cannot overflow.
template <typename Product>
inline void int_products(const int64_t* a, const int64_t* b, size_t n, IntSums* sums) {
    for (size_t i = 0; i < n; ++i) {
        const Product dot = Product(a[i]) * Product(b[i]);
        const uint64_t square_a = uint64_t(a[i]) * uint64_t(a[i]), square_b = uint64_t(b[i]) * uint64_t(b[i]);
        sums->dot_low += uint32_t(dot);
        sums->dot_high += int64_t(dot >> 32);
        sums->square_a_low += uint32_t(square_a);
        sums->square_a_high += int64_t(square_a >> 32);
        sums->square_b_low += uint32_t(square_b);
        sums->square_b_high += int64_t(square_b >> 32);
    }
}

void int_sums(const int64_t* a, const int64_t* b, bool both_unsigned, double* size, double* size_a, double* size_b, size_t n,
              IntSums* out) {
    IntSums sums = {};
    if (both_unsigned) int_products<uint64_t>(a, b, n, &sums);
    else int_products<int64_t>(a, b, n, &sums);
    int64_t total = 0, largest = 0;
    for (size_t i = 0; i < n; ++i) {
        const int64_t diff = a[i] - b[i], apart = diff < 0 ? -diff : diff;
        total += apart;
        largest = apart > largest ? apart : largest;
    }
    for (size_t i = 0; i < n; ++i) {
        const double x = double(a[i]), y = double(b[i]);
        size[i] = __builtin_fabs(x - y);  // below 2^33: exact
        size_a[i] = __builtin_fabs(x);
        size_b[i] = __builtin_fabs(y);
    }
    sums.total_diff = uint64_t(total);
    sums.max_diff = uint64_t(largest);
    *out = sums;
}

// --- distance in representable values -----------------------------------------------------------------------------

// Floats of one sign are ordered like their bits; across zero the distances to it add up, and both zeros are one value.
// `Bits` is signed: without its sign bit a number is not negative, so that comparisons need no unsigned instructions.
template <typename Bits, typename Unsigned>
inline uint64_t max_ulp(const void* a_in, const void* b_in, Bits infinity, size_t n) {
    typedef Bits Vector __attribute__((vector_size(8 * kLanes)));
    typedef Unsigned Wrapping __attribute__((vector_size(8 * kLanes)));
    constexpr size_t kCount = sizeof(Vector) / sizeof(Bits);
    constexpr int kSignBit = sizeof(Bits) * 8 - 1;
    constexpr Bits kLowest = Bits(Unsigned(1) << kSignBit), kNotSign = Bits(~kLowest);
    const Bits *a_all = static_cast<const Bits*>(a_in), *b_all = static_cast<const Bits*>(b_in);
    Vector largest = Vector{} + kLowest;  // distances less 2^kSignBit: their order as signed numbers
    for (size_t i = 0; i < n; i += kCount) {
        Vector a = {}, b = {};
        const size_t bytes = (n - i < kCount ? n - i : kCount) * sizeof(Bits);
        if (bytes == sizeof a) memcpy(&a, a_all + i, sizeof a), memcpy(&b, b_all + i, sizeof b);
        else memcpy(&a, a_all + i, bytes), memcpy(&b, b_all + i, bytes);
        const Vector x = a & kNotSign, y = b & kNotSign, diff = x - y, sign = diff >> kSignBit;
        const Vector opposite = (a ^ b) >> kSignBit, finite = (x < infinity) & (y < infinity);
        const Vector across = (Vector)((Wrapping)x + (Wrapping)y);
        const Vector distance = (opposite & across) | (~opposite & ((diff ^ sign) - sign));
        const Vector ranked = (distance & finite) ^ kLowest;
        largest = ranked > largest ? ranked : largest;
    }
    Bits lanes[kCount];
    memcpy(lanes, &largest, sizeof lanes);
    Bits most = kLowest;
    for (size_t lane = 0; lane < kCount; ++lane) most = lanes[lane] > most ? lanes[lane] : most;
    return Unsigned(most ^ kLowest);
}

uint64_t ulp16(const void* a, const void* b, uint16_t infinity, size_t n) {
    return max_ulp<int16_t, uint16_t>(a, b, int16_t(infinity), n);
}

uint64_t ulp32(const void* a, const void* b, size_t n) { return max_ulp<int32_t, uint32_t>(a, b, 0x7f800000, n); }

uint64_t ulp64(const void* a, const void* b, size_t n) {
    return max_ulp<int64_t, uint64_t>(a, b, 0x7ff0000000000000, n);
}

}  // namespace

extern const BlockOps KERNEL_NAME(KERNEL_ISA);
const BlockOps KERNEL_NAME(KERNEL_ISA) = {
    KERNEL_TEXT(KERNEL_ISA),
    to_double, to_int64, split_complex, all_finite, count_nonfinite, leave_out, max_abs, scale, inner, total, modulus,
    real_rated, real_basic, real_broken, sizes_rated, sizes_basic, sizes_broken, int_sums, ulp16, ulp32, ulp64,
};

}  // namespace precision
