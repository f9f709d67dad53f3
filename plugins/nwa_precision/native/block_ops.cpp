// The arithmetic on one block of elements, compiled once for each instruction set (KERNEL_ISA names it).
//
// Float sums keep one partial sum per vector lane in float64. Nothing is contracted to fused multiply-add, so every
// element-wise result is the same on every machine and in numpy. Only functions without linkage: see kernel.h.
#include "kernel.h"

#include <string.h>

#ifndef KERNEL_ISA
#define KERNEL_ISA baseline
#endif
#define KERNEL_NAME_(isa) block_ops_##isa
#define KERNEL_NAME(isa) KERNEL_NAME_(isa)
#define KERNEL_TEXT_(isa) #isa
#define KERNEL_TEXT(isa) KERNEL_TEXT_(isa)

namespace precision {
namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX2__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif

typedef double Doubles __attribute__((vector_size(8 * kLanes)));
typedef int64_t Longs __attribute__((vector_size(8 * kLanes)));

inline Doubles load(const double* from) {
    Doubles value;
    memcpy(&value, from, sizeof value);
    return value;
}

inline void store(double* to, Doubles value) { memcpy(to, &value, sizeof value); }

inline Doubles size_of(Doubles value) { return (Doubles)((Longs)value & 0x7fffffffffffffffLL); }

inline Doubles larger_of(Doubles x, Doubles y) { return x > y ? x : y; }

// Not inlined: element access would keep the accumulators of a loop in memory.
__attribute__((noinline)) double sum_of(Doubles value) {
    double lanes[kLanes], sum = 0;
    memcpy(lanes, &value, sizeof lanes);
    for (int lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
    return sum;
}

__attribute__((noinline)) double max_of(Doubles value) {
    double lanes[kLanes], largest = 0;
    memcpy(lanes, &value, sizeof lanes);
    for (int lane = 0; lane < kLanes; ++lane) largest = lanes[lane] > largest ? lanes[lane] : largest;
    return largest;
}

__attribute__((noinline)) int64_t sum_of(Longs value) {
    int64_t lanes[kLanes], sum = 0;
    memcpy(lanes, &value, sizeof lanes);
    for (int lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
    return sum;
}

// --- decoding -----------------------------------------------------------------------------------------------------

inline float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

inline uint32_t to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Branch-free, subnormals included: the exponent is moved to float32's place and the bias corrected by a product.
inline float from_half(uint16_t half) {
    uint32_t bits = to_bits(from_bits(uint32_t(half & 0x7fff) << 13) * 0x1p112f);
    bits |= (half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
    return from_bits(bits | uint32_t(half & 0x8000) << 16);
}

inline float from_bfloat(uint16_t bits) { return from_bits(uint32_t(bits) << 16); }

template <typename Raw, typename Out>
void convert(const void* raw, Out* out, size_t n) {
    const Raw* values = static_cast<const Raw*>(raw);
    for (size_t i = 0; i < n; ++i) out[i] = Out(values[i]);
}

void to_double(int code, const void* raw, const void* table, double* out, size_t n) {
    const uint8_t* bytes = static_cast<const uint8_t*>(raw);
    const uint16_t* words = static_cast<const uint16_t*>(raw);
    switch (code) {
        case kBool: for (size_t i = 0; i < n; ++i) out[i] = bytes[i] != 0; break;
        case kI8: convert<int8_t>(raw, out, n); break;
        case kI16: convert<int16_t>(raw, out, n); break;
        case kI32: convert<int32_t>(raw, out, n); break;
        case kI64: convert<int64_t>(raw, out, n); break;
        case kU8: convert<uint8_t>(raw, out, n); break;
        case kU16: convert<uint16_t>(raw, out, n); break;
        case kU32: convert<uint32_t>(raw, out, n); break;
        case kU64: convert<uint64_t>(raw, out, n); break;
        case kF16: for (size_t i = 0; i < n; ++i) out[i] = from_half(words[i]); break;
        case kBF16: for (size_t i = 0; i < n; ++i) out[i] = from_bfloat(words[i]); break;
        case kF32: convert<float>(raw, out, n); break;
        case kF64: memcpy(out, raw, n * sizeof *out); break;
        case kFloatTable: for (size_t i = 0; i < n; ++i) out[i] = static_cast<const float*>(table)[bytes[i]]; break;
        case kIntTable: for (size_t i = 0; i < n; ++i) out[i] = static_cast<const int32_t*>(table)[bytes[i]]; break;
    }
}

void to_int64(int code, const void* raw, const void* table, int64_t* out, size_t n) {
    const uint8_t* bytes = static_cast<const uint8_t*>(raw);
    switch (code) {
        case kBool: for (size_t i = 0; i < n; ++i) out[i] = bytes[i] != 0; break;
        case kI8: convert<int8_t>(raw, out, n); break;
        case kI16: convert<int16_t>(raw, out, n); break;
        case kI32: convert<int32_t>(raw, out, n); break;
        case kU8: convert<uint8_t>(raw, out, n); break;
        case kU16: convert<uint16_t>(raw, out, n); break;
        case kU32: convert<uint32_t>(raw, out, n); break;
        case kIntTable: for (size_t i = 0; i < n; ++i) out[i] = static_cast<const int32_t*>(table)[bytes[i]]; break;
    }
}

template <typename Raw, typename Decode>
void split(const void* raw, double* real, double* imag, size_t n, Decode decode) {
    const Raw* values = static_cast<const Raw*>(raw);
    for (size_t i = 0; i < n; ++i) real[i] = decode(values[2 * i]), imag[i] = decode(values[2 * i + 1]);
}

void split_complex(int code, const void* raw, double* real, double* imag, size_t n) {
    switch (code) {
        case kC32: split<uint16_t>(raw, real, imag, n, from_half); break;
        case kC64: split<float>(raw, real, imag, n, [](float value) { return value; }); break;
        case kC128: split<double>(raw, real, imag, n, [](double value) { return value; }); break;
    }
}

// --- real numbers -------------------------------------------------------------------------------------------------

bool all_finite(const double* values, size_t n) {
    Doubles zero = {};  // stays 0, or becomes NaN
    for (size_t i = 0; i < n; i += kLanes) zero += load(values + i) * 0.0;
    return sum_of(zero) == 0;
}

inline Longs finite(Doubles value) { return size_of(value) < __builtin_inf(); }

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
    constexpr double kInfinity = __builtin_inf();
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

double max_abs(const double* values, size_t n) {
    Doubles largest = {};
    for (size_t i = 0; i < n; i += kLanes) largest = larger_of(size_of(load(values + i)), largest);
    return max_of(largest);
}

void scale(const double* values, double factor, double* out, size_t n) {
    for (size_t i = 0; i < n; i += kLanes) store(out + i, load(values + i) * factor);
}

struct Accumulators {
    Doubles dot = {}, square_a = {}, square_b = {}, square_diff = {}, total = {}, max_diff = {};

    inline Doubles add(Doubles a, Doubles b) {
        const Doubles diff = a - b, size = size_of(diff);
        dot += a * b;
        square_a += a * a;
        square_b += b * b;
        square_diff += diff * diff;
        total += size;
        max_diff = larger_of(size, max_diff);
        return size;
    }

    void finish(double max_rel, RealSums* out) const {
        *out = {sum_of(dot), sum_of(square_a), sum_of(square_b), sum_of(square_diff), sum_of(total), max_of(max_diff), max_rel};
    }
};

inline Doubles larger_size(Doubles a, Doubles b) { return larger_of(size_of(a), size_of(b)) + kEpsilon; }

void real_sums(const double* a, const double* b, double* size, double* rel, size_t n, RealSums* out) {
    Accumulators sums;
    Doubles max_rel = {};
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles x = load(a + i), y = load(b + i), apart = sums.add(x, y), error = apart / larger_size(x, y);
        max_rel = larger_of(error, max_rel);
        store(size + i, apart);
        store(rel + i, error);
    }
    sums.finish(max_of(max_rel), out);
}

void real_sums_only(const double* a, const double* b, size_t n, RealSums* out) {
    Accumulators sums;
    // Division is the slowest step. It is left to the strips that may hold a larger error than the largest so far: the
    // product is compared with some room for its rounding.
    constexpr size_t kStrip = 8 * kLanes;
    double max_rel = out->max_rel;
    for (size_t start = 0; start < n; start += kStrip) {
        const size_t end = start + kStrip < n ? start + kStrip : n;
        const Doubles reach = Doubles{} + max_rel * (1 - 0x1p-48);
        Longs beyond = {};
        for (size_t i = start; i < end; i += kLanes) {
            const Doubles x = load(a + i), y = load(b + i), apart = sums.add(x, y);
            beyond |= apart > reach * larger_size(x, y);
        }
        if (!sum_of(beyond)) continue;
        Doubles largest = Doubles{} + max_rel;
        for (size_t i = start; i < end; i += kLanes) {
            const Doubles x = load(a + i), y = load(b + i);
            largest = larger_of(size_of(x - y) / larger_size(x, y), largest);
        }
        max_rel = max_of(largest);
    }
    sums.finish(max_rel, out);
}

double inner(const double* a, const double* b, size_t n) {
    Doubles sum = {};
    for (size_t i = 0; i < n; i += kLanes) sum += load(a + i) * load(b + i);
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

double relative(const double* size, const double* size_a, const double* size_b, double* rel, size_t n) {
    Doubles largest = {};
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles error = load(size + i) / (larger_of(load(size_a + i), load(size_b + i)) + kEpsilon);
        store(rel + i, error);
        largest = larger_of(error, largest);
    }
    return max_of(largest);
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

// --- what every element contributes -------------------------------------------------------------------------------

struct RuleVectors {
    const Rule* rule;
    Longs violations = {}, over = {};

    inline void add(Doubles size, Doubles size_b) {
        violations -= ~(size <= rule->atol + rule->rtol * size_b);
        over |= ~(size <= rule->atol + rule->rtol_needed * size_b);
    }

    void finish(Rule* out) const {
        out->violations += sum_of(violations);
        out->over = sum_of(over) != 0;
    }
};

void check(const double* size, const double* b, size_t n, Rule* rule) {
    const Rule limits = *rule;
    RuleVectors vectors{&limits};
    for (size_t i = 0; i < n; i += kLanes) vectors.add(load(size + i), size_of(load(b + i)));
    vectors.finish(rule);
}

void rate(const double* size, const double* rel, const double* b, size_t n, Distribution* counts, Rule* rule) {
    const Rule limits = *rule;
    RuleVectors vectors{&limits};
    Longs equal = {}, zeros = {}, over_1 = {}, over_5 = {};
    int64_t bins[kBlock + kPad];
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles error = load(rel + i), apart = load(size + i), size_b = size_of(load(b + i));
        vectors.add(apart, size_b);
        equal -= apart == 0.0;
        zeros -= size_b == 0.0;
        over_1 -= error > 1e-3;
        over_5 -= error > 5e-3;
        // A relative error is at most 2, so that only the lower end needs a limit.
        const Longs bin = ((Longs)error >> kBinShift) - (kFirstBin - 1);
        const Longs limited = bin & (bin > 0);
        memcpy(bins + i, &limited, sizeof limited);
    }
    vectors.finish(rule);
    counts->equal += sum_of(equal);
    counts->zeros_b += sum_of(zeros);
    counts->over_1 += sum_of(over_1);
    counts->over_5 += sum_of(over_5);
    static_assert(kPad % kHistograms == 0, "blocks are padded to full rounds");
    for (size_t i = 0; i < n; i += kHistograms)
        for (int table = 0; table < kHistograms; ++table) ++counts->histogram[table][bins[i + table]];
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
    to_double, to_int64, split_complex, all_finite, count_nonfinite, leave_out, max_abs, scale, real_sums, real_sums_only, inner, total, modulus, relative,
    int_sums, rate, check, ulp16, ulp32, ulp64,
};

}  // namespace precision
