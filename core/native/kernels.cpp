#include "kernels.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#define AUTOFUSE_X86 1
#include <immintrin.h>
#elif defined(__aarch64__)
#define AUTOFUSE_NEON 1
#include <arm_neon.h>
#endif

// Regions of code for one instruction set.
#define AUTOFUSE_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define AUTOFUSE_BEGIN(features) \
    AUTOFUSE_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define AUTOFUSE_END AUTOFUSE_PRAGMA(clang attribute pop)
#else
#define AUTOFUSE_BEGIN(features) AUTOFUSE_PRAGMA(GCC push_options) AUTOFUSE_PRAGMA(GCC target(features))
#define AUTOFUSE_END AUTOFUSE_PRAGMA(GCC pop_options)
#endif

#define AUTOFUSE_NOINLINE __attribute__((noinline))

namespace autofuse {

// --- the meter's state machine ---------------------------------------------------------------------------------------

void Meter::take(uint8_t byte) {
    if (missing) {
        if (least <= byte && byte <= most) {
            ++seen;
            --missing;
            least = 0x80;
            most = 0xBF;
            return;
        }
        undecodable += seen;
        missing = 0;
    }
    if (byte >= 0x80) begin(byte);
}

// The first byte of a sequence says how many follow, and narrows the range of the second one.
void Meter::begin(uint8_t byte) {
    least = 0x80;
    most = 0xBF;
    seen = 1;
    if (byte >= 0xC2 && byte <= 0xDF) {
        missing = 1;
    } else if (byte >= 0xE0 && byte <= 0xEF) {
        missing = 2;
        if (byte == 0xE0) least = 0xA0;
        if (byte == 0xED) most = 0x9F;
    } else if (byte >= 0xF0 && byte <= 0xF4) {
        missing = 3;
        if (byte == 0xF0) least = 0x90;
        if (byte == 0xF4) most = 0x8F;
    } else {
        ++undecodable;
    }
}

void Meter::finish() {
    if (missing) undecodable += seen;
    missing = 0;
}

namespace {

// Bit i stands for byte i of a chunk of 64.
struct Bits {
    uint64_t candidates;
    uint64_t newlines;
};

// --- any processor ---------------------------------------------------------------------------------------------------

namespace portable {

class Simd {
  public:
    explicit Simd(const Markers& markers) {
        for (int k = 0; k < kWidth; ++k) {
            for (int byte = 0; byte < 256; ++byte) {
                buckets_[k][byte] = markers.low[k][byte & 15] & markers.high[k][byte >> 4];
            }
        }
    }

    Bits bits(const uint8_t* p) const {
        Bits result{0, 0};
        for (int i = 0; i < 64; ++i) {
            const uint8_t left = buckets_[0][p[i]] & buckets_[1][p[i + 1]] & buckets_[2][p[i + 2]] & buckets_[3][p[i + 3]];
            result.candidates |= static_cast<uint64_t>(left != 0) << i;
            result.newlines |= static_cast<uint64_t>(p[i] == '\n') << i;
        }
        return result;
    }

    static uint64_t newlines(const uint8_t* p) {
        uint64_t result = 0;
        for (int i = 0; i < 64; ++i) result |= static_cast<uint64_t>(p[i] == '\n') << i;
        return result;
    }

    static uint64_t high_bits(const uint8_t* p) {
        uint64_t result = 0;
        for (int i = 0; i < 64; ++i) result |= p[i];
        return result & 0x80;
    }

  private:
    uint8_t buckets_[kWidth][256];
};

#include "kernel.inc"

}  // namespace portable

#if AUTOFUSE_X86

// --- SSSE3: 16 bytes at a time ---------------------------------------------------------------------------------------

AUTOFUSE_BEGIN("ssse3,popcnt")
namespace ssse3 {

class Simd {
  public:
    explicit Simd(const Markers& markers) {
        for (int k = 0; k < kWidth; ++k) {
            low_[k] = _mm_load_si128(reinterpret_cast<const __m128i*>(markers.low[k]));
            high_[k] = _mm_load_si128(reinterpret_cast<const __m128i*>(markers.high[k]));
        }
    }

    Bits bits(const uint8_t* p) const {
        Bits result{0, newlines(p)};
        for (int part = 0; part < 4; ++part) {
            __m128i left = _mm_set1_epi8(-1);
            for (int k = 0; k < kWidth; ++k) left = _mm_and_si128(left, buckets(load(p + 16 * part + k), k));
            const auto none = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(left, _mm_setzero_si128())));
            result.candidates |= static_cast<uint64_t>(none ^ 0xFFFF) << (16 * part);
        }
        return result;
    }

    static uint64_t newlines(const uint8_t* p) {
        uint64_t result = 0;
        for (int part = 0; part < 4; ++part) {
            const __m128i equal = _mm_cmpeq_epi8(load(p + 16 * part), _mm_set1_epi8('\n'));
            result |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(equal))) << (16 * part);
        }
        return result;
    }

    static uint64_t high_bits(const uint8_t* p) {
        const __m128i all = _mm_or_si128(_mm_or_si128(load(p), load(p + 16)), _mm_or_si128(load(p + 32), load(p + 48)));
        return static_cast<uint32_t>(_mm_movemask_epi8(all));
    }

  private:
    __m128i low_[kWidth];
    __m128i high_[kWidth];

    static __m128i load(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

    __m128i buckets(__m128i bytes, int k) const {
        const __m128i half = _mm_set1_epi8(15);
        const __m128i upper = _mm_and_si128(_mm_srli_epi16(bytes, 4), half);
        return _mm_and_si128(_mm_shuffle_epi8(low_[k], _mm_and_si128(bytes, half)), _mm_shuffle_epi8(high_[k], upper));
    }
};

#include "kernel.inc"

}  // namespace ssse3
AUTOFUSE_END

// --- AVX2: 32 bytes at a time ----------------------------------------------------------------------------------------

AUTOFUSE_BEGIN("avx2,bmi,lzcnt,popcnt")
namespace avx2 {

class Simd {
  public:
    explicit Simd(const Markers& markers) {
        for (int k = 0; k < kWidth; ++k) {
            low_[k] = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(markers.low[k])));
            high_[k] = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(markers.high[k])));
        }
    }

    Bits bits(const uint8_t* p) const { return {candidates(p) | candidates(p + 32) << 32, newlines(p)}; }

    static uint64_t newlines(const uint8_t* p) { return newlines_of_half(p) | newlines_of_half(p + 32) << 32; }

    static uint64_t high_bits(const uint8_t* p) {
        return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(load(p), load(p + 32))));
    }

  private:
    __m256i low_[kWidth];
    __m256i high_[kWidth];

    static __m256i load(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

    static uint64_t newlines_of_half(const uint8_t* p) {
        return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(p), _mm256_set1_epi8('\n'))));
    }

    uint64_t candidates(const uint8_t* p) const {
        __m256i left = buckets(load(p), 0);
        for (int k = 1; k < kWidth; ++k) left = _mm256_and_si256(left, buckets(load(p + k), k));
        const __m256i none = _mm256_cmpeq_epi8(left, _mm256_setzero_si256());
        return static_cast<uint32_t>(~_mm256_movemask_epi8(none));
    }

    __m256i buckets(__m256i bytes, int k) const {
        const __m256i half = _mm256_set1_epi8(15);
        const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
        return _mm256_and_si256(_mm256_shuffle_epi8(low_[k], _mm256_and_si256(bytes, half)),
                                _mm256_shuffle_epi8(high_[k], upper));
    }
};

#include "kernel.inc"

}  // namespace avx2
AUTOFUSE_END

// --- AVX-512: 64 bytes at a time -------------------------------------------------------------------------------------

AUTOFUSE_BEGIN("avx512f,avx512bw,bmi,lzcnt,popcnt")
namespace avx512 {

class Simd {
  public:
    explicit Simd(const Markers& markers) {
        for (int k = 0; k < kWidth; ++k) {
            low_[k] = broadcast(markers.low[k]);
            high_[k] = broadcast(markers.high[k]);
        }
    }

    Bits bits(const uint8_t* p) const {
        __m512i left = buckets(load(p), 0);
        for (int k = 1; k < kWidth; ++k) left = _mm512_and_si512(left, buckets(load(p + k), k));
        return {_mm512_test_epi8_mask(left, left), newlines(p)};
    }

    static uint64_t newlines(const uint8_t* p) { return _mm512_cmpeq_epi8_mask(load(p), _mm512_set1_epi8('\n')); }

    static uint64_t high_bits(const uint8_t* p) { return _mm512_movepi8_mask(load(p)); }

  private:
    __m512i low_[kWidth];
    __m512i high_[kWidth];

    static __m512i load(const uint8_t* p) { return _mm512_loadu_si512(p); }

    // With a mask of all, as GCC 12 warns of an uninitialized value inside the intrinsic without one.
    static __m512i broadcast(const uint8_t* p) {
        return _mm512_maskz_broadcast_i32x4(0xFFFF, _mm_load_si128(reinterpret_cast<const __m128i*>(p)));
    }

    __m512i buckets(__m512i bytes, int k) const {
        const __m512i half = _mm512_set1_epi8(15);
        const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), half);
        return _mm512_and_si512(_mm512_shuffle_epi8(low_[k], _mm512_and_si512(bytes, half)),
                                _mm512_shuffle_epi8(high_[k], upper));
    }
};

#include "kernel.inc"

}  // namespace avx512
AUTOFUSE_END

#elif AUTOFUSE_NEON

// --- NEON: 16 bytes at a time, part of every aarch64 -----------------------------------------------------------------

namespace neon {

class Simd {
  public:
    explicit Simd(const Markers& markers) {
        for (int k = 0; k < kWidth; ++k) {
            low_[k] = vld1q_u8(markers.low[k]);
            high_[k] = vld1q_u8(markers.high[k]);
        }
    }

    Bits bits(const uint8_t* p) const {
        uint8x16_t left[4];
        for (int part = 0; part < 4; ++part) {
            left[part] = buckets(vld1q_u8(p + 16 * part), 0);
            for (int k = 1; k < kWidth; ++k) left[part] = vandq_u8(left[part], buckets(vld1q_u8(p + 16 * part + k), k));
            left[part] = vtstq_u8(left[part], left[part]);
        }
        return {mask(left), newlines(p)};
    }

    static uint64_t newlines(const uint8_t* p) {
        uint8x16_t equal[4];
        for (int part = 0; part < 4; ++part) equal[part] = vceqq_u8(vld1q_u8(p + 16 * part), vdupq_n_u8('\n'));
        return mask(equal);
    }

    static uint64_t high_bits(const uint8_t* p) {
        const uint8x16_t all = vorrq_u8(vorrq_u8(vld1q_u8(p), vld1q_u8(p + 16)), vorrq_u8(vld1q_u8(p + 32), vld1q_u8(p + 48)));
        return vmaxvq_u8(all) & 0x80;
    }

  private:
    uint8x16_t low_[kWidth];
    uint8x16_t high_[kWidth];

    uint8x16_t buckets(uint8x16_t bytes, int k) const {
        return vandq_u8(vqtbl1q_u8(low_[k], vandq_u8(bytes, vdupq_n_u8(15))), vqtbl1q_u8(high_[k], vshrq_n_u8(bytes, 4)));
    }

    // One bit per byte of four vectors of 0 and 255: each byte keeps its bit of eight, and neighbours are added up.
    static uint64_t mask(const uint8x16_t (&bytes)[4]) {
        const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        const uint8x16_t first = vpaddq_u8(vandq_u8(bytes[0], bit), vandq_u8(bytes[1], bit));
        const uint8x16_t second = vpaddq_u8(vandq_u8(bytes[2], bit), vandq_u8(bytes[3], bit));
        const uint8x16_t all = vpaddq_u8(first, second);
        return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
    }
};

#include "kernel.inc"

}  // namespace neon

#endif

}  // namespace

const std::vector<Kernel>& kernels() {
    static const std::vector<Kernel> usable = [] {
        std::vector<Kernel> found;
#if AUTOFUSE_X86
        __builtin_cpu_init();
        const bool avx2_there = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
        // Processors before VBMI lower their clock for 64-byte vectors.
        if (avx2_there && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi")) {
            found.push_back({"avx512", avx512::scan, avx512::measure});
        }
        if (avx2_there) found.push_back({"avx2", avx2::scan, avx2::measure});
        if (__builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt")) {
            found.push_back({"ssse3", ssse3::scan, ssse3::measure});
        }
#elif AUTOFUSE_NEON
        found.push_back({"neon", neon::scan, neon::measure});
#endif
        found.push_back({"portable", portable::scan, portable::measure});
        return found;
    }();
    return usable;
}

}  // namespace autofuse
