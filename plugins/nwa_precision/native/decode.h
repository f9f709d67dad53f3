// Elements of every type as float64 or int64, with a bound of their size. Included like lanes.h.
#pragma once

#include "kernel.h"
#include "lanes.h"

namespace precision {
namespace {

constexpr double kInfinity = __builtin_inf();
constexpr double kLargestFloat = 0x1p128;  // no finite value of a narrow type is larger

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

template <typename Value, typename Out>
void look_up(const void* raw, const void* table, Out* out, size_t n) {
    const uint8_t* bytes = static_cast<const uint8_t*>(raw);
    for (size_t i = 0; i < n; ++i) out[i] = Out(static_cast<const Value*>(table)[bytes[i]]);
}

void halves(const void* raw, double* out, size_t n) {
    const uint16_t* values = static_cast<const uint16_t*>(raw);
    size_t i = 0;
#if defined(__AVX512F__)
    for (; i + 8 <= n; i += 8) {
        const __m256 floats = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i)));
        _mm512_storeu_pd(out + i, _mm512_cvtps_pd(floats));
    }
#elif defined(__F16C__)
    for (; i + 4 <= n; i += 4) {
        const __m128 floats = _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(values + i)));
        _mm256_storeu_pd(out + i, _mm256_cvtps_pd(floats));
    }
#endif
    for (; i < n; ++i) out[i] = from_half(values[i]);
}

// Whether no element has the exponent of infinity; `Bits` is signed, without its sign bit a number is not negative.
template <typename Bits>
bool below(const void* raw, Bits infinity, size_t n) {
    const Bits* values = static_cast<const Bits*>(raw);
    constexpr Bits kNotSign = Bits(~(uint64_t(1) << (sizeof(Bits) * 8 - 1)));
    Bits largest = 0;
    for (size_t i = 0; i < n; ++i) {
        const Bits size = Bits(values[i] & kNotSign);
        largest = size > largest ? size : largest;
    }
    return largest < infinity;
}

inline double bound(bool finite) { return finite ? kLargestFloat : kInfinity; }

bool all_finite(const double* values, size_t n) {
    Doubles zero = {};  // stays 0, or becomes NaN
    for (size_t i = 0; i < n; i += kLanes) zero += load(values + i) * 0.0;
    return sum_of(zero) == 0;
}

double max_abs(const double* values, size_t n) {
    Doubles largest = {};
    for (size_t i = 0; i < n; i += kLanes) largest = larger_of(size_of(load(values + i)), largest);
    return max_of(largest);
}

// Copies float64 values with padding, and gives the largest size, or infinity when one is not finite.
double copy_bounded(const void* raw, double* out, size_t n) {
    const double* values = static_cast<const double*>(raw);
    Doubles zero = {}, largest = {};  // zero stays 0, or becomes NaN
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        const Doubles value = load(values + i);
        zero += value * 0.0;
        largest = larger_of(size_of(value), largest);
        store(out + i, value);
    }
    for (size_t end = i; end < n || end % kPad; ++end) out[end] = end < n ? values[end] : 0;
    for (; i < n; i += kLanes) {
        zero += load(out + i) * 0.0;
        largest = larger_of(size_of(load(out + i)), largest);
    }
    return sum_of(zero) == 0 ? max_of(largest) : kInfinity;
}

double to_double(int code, const void* raw, const void* table, double* out, size_t n) {
    double largest = kLargestFloat;
    switch (code) {
        case kBool: for (size_t i = 0; i < n; ++i) out[i] = static_cast<const uint8_t*>(raw)[i] != 0; break;
        case kI8: convert<int8_t>(raw, out, n); break;
        case kI16: convert<int16_t>(raw, out, n); break;
        case kI32: convert<int32_t>(raw, out, n); break;
        case kI64: convert<int64_t>(raw, out, n); break;
        case kU8: convert<uint8_t>(raw, out, n); break;
        case kU16: convert<uint16_t>(raw, out, n); break;
        case kU32: convert<uint32_t>(raw, out, n); break;
        case kU64: convert<uint64_t>(raw, out, n); break;
        case kIntTable: look_up<int32_t>(raw, table, out, n); break;
        case kF16:
            halves(raw, out, n);
            largest = bound(below<int16_t>(raw, 0x7c00, n));
            break;
        case kBF16:
            for (size_t i = 0; i < n; ++i) out[i] = from_bfloat(static_cast<const uint16_t*>(raw)[i]);
            largest = bound(below<int16_t>(raw, 0x7f80, n));
            break;
        case kF32:
            convert<float>(raw, out, n);
            largest = bound(below<int32_t>(raw, 0x7f800000, n));
            break;
        case kF64: return copy_bounded(raw, out, n);
        case kFloatTable:
            look_up<float>(raw, table, out, n);
            return copy_bounded(out, out, n);
    }
    for (size_t i = n; i % kPad; ++i) out[i] = 0;
    return largest;
}

void to_int64(int code, const void* raw, const void* table, int64_t* out, size_t n) {
    switch (code) {
        case kBool: for (size_t i = 0; i < n; ++i) out[i] = static_cast<const uint8_t*>(raw)[i] != 0; break;
        case kI8: convert<int8_t>(raw, out, n); break;
        case kI16: convert<int16_t>(raw, out, n); break;
        case kI32: convert<int32_t>(raw, out, n); break;
        case kU8: convert<uint8_t>(raw, out, n); break;
        case kU16: convert<uint16_t>(raw, out, n); break;
        case kU32: convert<uint32_t>(raw, out, n); break;
        case kIntTable: look_up<int32_t>(raw, table, out, n); break;
    }
    for (size_t i = n; i % kPad; ++i) out[i] = 0;
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
    for (size_t i = n; i % kPad; ++i) real[i] = imag[i] = 0;
}

}  // namespace
}  // namespace precision
