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

inline double sum_of(Doubles value) {
    double sum = value[0];
    for (int lane = 1; lane < kLanes; ++lane) sum += value[lane];
    return sum;
}

inline double max_of(Doubles value) {
    double largest = value[0];
    for (int lane = 1; lane < kLanes; ++lane) largest = value[lane] > largest ? value[lane] : largest;
    return largest;
}

inline int64_t sum_of(Longs value) {
    int64_t sum = value[0];
    for (int lane = 1; lane < kLanes; ++lane) sum += value[lane];
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

void to_int32(int code, const void* raw, const void* table, int32_t* out, size_t n) {
    const uint8_t* bytes = static_cast<const uint8_t*>(raw);
    switch (code) {
        case kBool: for (size_t i = 0; i < n; ++i) out[i] = bytes[i] != 0; break;
        case kI8: convert<int8_t>(raw, out, n); break;
        case kI16: convert<int16_t>(raw, out, n); break;
        case kU8: convert<uint8_t>(raw, out, n); break;
        case kU16: convert<uint16_t>(raw, out, n); break;
        case kIntTable: for (size_t i = 0; i < n; ++i) out[i] = static_cast<const int32_t*>(table)[bytes[i]]; break;
    }
}

void split_complex(int code, const void* raw, double* real, double* imag, size_t n) {
    const uint16_t* halves = static_cast<const uint16_t*>(raw);
    const float* floats = static_cast<const float*>(raw);
    const double* doubles = static_cast<const double*>(raw);
    for (size_t i = 0; i < n; ++i) {
        switch (code) {
            case kC32: real[i] = from_half(halves[2 * i]), imag[i] = from_half(halves[2 * i + 1]); break;
            case kC64: real[i] = floats[2 * i], imag[i] = floats[2 * i + 1]; break;
            case kC128: real[i] = doubles[2 * i], imag[i] = doubles[2 * i + 1]; break;
        }
    }
}

// --- real numbers -------------------------------------------------------------------------------------------------

bool all_finite(const double* values, size_t n) {
    Longs infinite = {};
    for (size_t i = 0; i < n; i += kLanes) infinite |= ~(size_of(load(values + i)) < __builtin_inf());
    return sum_of(infinite) == 0;
}

double max_abs(const double* values, size_t n) {
    Doubles largest = {};
    for (size_t i = 0; i < n; i += kLanes) largest = larger_of(size_of(load(values + i)), largest);
    return max_of(largest);
}

void scale(const double* values, double factor, double* out, size_t n) {
    for (size_t i = 0; i < n; i += kLanes) store(out + i, load(values + i) * factor);
}

template <bool kKeep>
inline void sums(const double* a_in, const double* b_in, double* size, double* rel, size_t n, RealSums* out) {
    Doubles dot = {}, square_a = {}, square_b = {}, square_diff = {}, total = {}, max_diff = {}, max_rel = {};
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles a = load(a_in + i), b = load(b_in + i), diff = a - b, apart = size_of(diff);
        dot += a * b;
        square_a += a * a;
        square_b += b * b;
        square_diff += diff * diff;
        total += apart;
        max_diff = larger_of(apart, max_diff);
        const Doubles error = apart / (larger_of(size_of(a), size_of(b)) + kEpsilon);
        max_rel = larger_of(error, max_rel);
        if (kKeep) {
            store(size + i, apart);
            store(rel + i, error);
        }
    }
    *out = {sum_of(dot), sum_of(square_a), sum_of(square_b), sum_of(square_diff), sum_of(total), max_of(max_diff), max_of(max_rel)};
}

void real_sums(const double* a, const double* b, double* size, double* rel, size_t n, RealSums* out) {
    sums<true>(a, b, size, rel, n, out);
}

void real_sums_only(const double* a, const double* b, size_t n, RealSums* out) {
    sums<false>(a, b, nullptr, nullptr, n, out);
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

// --- integers of at most 16 bits ----------------------------------------------------------------------------------

void int_sums(const int32_t* a, const int32_t* b, double* size, double* size_a, double* size_b, size_t n, IntSums* out) {
    IntSums sums = {};
    for (size_t i = 0; i < n; ++i) {
        const int32_t diff = a[i] - b[i];
        const uint32_t apart = diff < 0 ? -diff : diff;
        sums.dot += int64_t(a[i]) * b[i];
        sums.square_a += int64_t(a[i]) * a[i];
        sums.square_b += int64_t(b[i]) * b[i];
        sums.total_diff += apart;
        sums.max_diff = apart > sums.max_diff ? apart : sums.max_diff;
    }
    for (size_t i = 0; i < n; ++i) {
        const int32_t diff = a[i] - b[i];
        size[i] = diff < 0 ? -diff : diff;
        size_a[i] = a[i] < 0 ? -a[i] : a[i];
        size_b[i] = b[i] < 0 ? -b[i] : b[i];
    }
    *out = sums;
}

// --- distribution and rule ----------------------------------------------------------------------------------------

void distribution(const double* size, const double* rel, size_t n, Distribution* counts) {
    Longs equal = {}, over_1 = {}, over_5 = {};
    int64_t bins[kBlock + kPad];
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles error = load(rel + i);
        equal -= load(size + i) == 0.0;
        over_1 -= error > 1e-3;
        over_5 -= error > 5e-3;
        Longs bin = ((Longs)error >> kBinShift) - (kFirstBin - 1);
        bin &= bin > 0;
        bin = bin < kBins - 1 ? bin : Longs{} + (kBins - 1);
        memcpy(bins + i, &bin, sizeof bin);
    }
    counts->equal += sum_of(equal);
    counts->over_1 += sum_of(over_1);
    counts->over_5 += sum_of(over_5);
    for (size_t i = 0; i < n; i += kHistograms)
        for (int table = 0; table < kHistograms; ++table) ++counts->histogram[table][bins[i + table]];
}

size_t count_zeros(const double* values, size_t n) {
    Longs zeros = {};
    for (size_t i = 0; i < n; i += kLanes) zeros -= load(values + i) == 0.0;
    return size_t(sum_of(zeros));
}

void rule(const double* size, const double* b, size_t n, Rule* rule) {
    Longs violations = {}, over = {};
    for (size_t i = 0; i < n; i += kLanes) {
        const Doubles apart = load(size + i), size_b = size_of(load(b + i));
        violations -= ~(apart <= rule->atol + rule->rtol * size_b);
        over |= ~(apart <= rule->atol + rule->rtol_needed * size_b);
    }
    rule->violations += sum_of(violations);
    rule->over = sum_of(over) != 0;
}

// --- distance in representable values -----------------------------------------------------------------------------

// Floats of one sign are ordered like their bits; across zero the distances to it add up, and both zeros are one value.
template <typename Bits>
inline uint64_t max_ulp(const void* a_in, const void* b_in, Bits infinity, size_t n) {
    const Bits *a = static_cast<const Bits*>(a_in), *b = static_cast<const Bits*>(b_in);
    constexpr Bits kSign = Bits(Bits(1) << (sizeof(Bits) * 8 - 1));
    Bits largest = 0;
    for (size_t i = 0; i < n; ++i) {
        const Bits x = a[i] & Bits(~kSign), y = b[i] & Bits(~kSign);
        const Bits apart = x > y ? Bits(x - y) : Bits(y - x);
        const Bits distance = (a[i] ^ b[i]) & kSign ? Bits(x + y) : apart;
        const Bits counted = (x < infinity) & (y < infinity) ? distance : Bits(0);
        largest = counted > largest ? counted : largest;
    }
    return largest;
}

uint64_t ulp16(const void* a, const void* b, uint32_t infinity, size_t n) {
    return max_ulp<uint16_t>(a, b, uint16_t(infinity), n);
}

uint64_t ulp32(const void* a, const void* b, size_t n) { return max_ulp<uint32_t>(a, b, 0x7f800000u, n); }

uint64_t ulp64(const void* a, const void* b, size_t n) { return max_ulp<uint64_t>(a, b, 0x7ff0000000000000u, n); }

}  // namespace

extern const BlockOps KERNEL_NAME(KERNEL_ISA);
const BlockOps KERNEL_NAME(KERNEL_ISA) = {
    KERNEL_TEXT(KERNEL_ISA),
    to_double, to_int32, split_complex, all_finite, max_abs, scale, real_sums, real_sums_only, inner, total, modulus, relative,
    int_sums, distribution, count_zeros, rule, ulp16, ulp32, ulp64,
};

}  // namespace precision
