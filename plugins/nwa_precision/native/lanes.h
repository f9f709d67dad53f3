// Vectors of float64 for the instruction set that a file is compiled for. To be included in one translation unit per set
// only: everything is without linkage, and nothing of the standard library is used (see kernel.h).
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

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

// The second one where the first is NaN.
inline Doubles larger_of(Doubles x, Doubles y) {
#if defined(__AVX512F__)
    return _mm512_max_pd(x, y);
#elif defined(__AVX2__)
    return _mm256_max_pd(x, y);
#else
    return x > y ? x : y;
#endif
}

// The larger size of two finite numbers.
inline Doubles larger_size_of(Doubles x, Doubles y) {
#if defined(__AVX512DQ__)
    return _mm512_range_pd(x, y, 0b1011);  // maximum of the absolute values, sign cleared
#else
    return larger_of(size_of(x), size_of(y));
#endif
}

// x * y + z, rounded once or twice: for sums only, never for a result of a single element.
inline Doubles multiply_add(Doubles x, Doubles y, Doubles z) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(x, y, z);
#elif defined(__FMA__)
    return _mm256_fmadd_pd(x, y, z);
#else
    return x * y + z;
#endif
}

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

}  // namespace
}  // namespace precision
