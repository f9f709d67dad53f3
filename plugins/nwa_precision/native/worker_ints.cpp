// Integers against integers: no sum and no difference is rounded.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "worker.h"
#include "worker_state.h"

namespace precision {
namespace {

bool is_signed(int code) { return code >= kI8 && code <= kI64; }

bool is_large_int(int code) { return code == kI64 || code == kU64; }

Int128 joined(uint64_t low, int64_t high) { return Int128(high) * (Int128(1) << 32) + low; }

template <typename Out>
void load_ints(const Side& side, const char* raw, Out* out, size_t n) {
    const auto all = [out, n](const auto* values) {
        for (size_t i = 0; i < n; ++i) out[i] = Out(values[i]);
    };
    switch (side.code) {
        case kBool: for (size_t i = 0; i < n; ++i) out[i] = raw[i] != 0; break;
        case kI8: all(reinterpret_cast<const int8_t*>(raw)); break;
        case kI16: all(reinterpret_cast<const int16_t*>(raw)); break;
        case kI32: all(reinterpret_cast<const int32_t*>(raw)); break;
        case kI64: all(reinterpret_cast<const int64_t*>(raw)); break;
        case kU8: all(reinterpret_cast<const uint8_t*>(raw)); break;
        case kU16: all(reinterpret_cast<const uint16_t*>(raw)); break;
        case kU32: all(reinterpret_cast<const uint32_t*>(raw)); break;
        case kU64: all(reinterpret_cast<const uint64_t*>(raw)); break;
        case kIntTable:
            for (size_t i = 0; i < n; ++i) out[i] = Out(static_cast<const int32_t*>(side.table)[uint8_t(raw[i])]);
            break;
    }
}

bool loads_signed(int code) { return is_signed(code) || code == kIntTable; }

uint64_t apart(int64_t a, int64_t b) { return a > b ? uint64_t(a) - uint64_t(b) : uint64_t(b) - uint64_t(a); }
uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }
UInt128 apart(int64_t a, uint64_t b) { return a < 0 ? UInt128(b) + (0 - uint64_t(a)) : apart(uint64_t(a), b); }
UInt128 apart(uint64_t a, int64_t b) { return apart(b, a); }

// 64-bit integers seldom are large ones.
template <typename Int>
bool all_below_2_31(const Int* values, size_t n) {
    uint64_t bits = 0;
    for (size_t i = 0; i < n; ++i) bits |= uint64_t(std::is_signed<Int>::value ? values[i] ^ (values[i] >> 63) : values[i]);
    return bits < uint64_t(1) << 31;
}

Int128 product(int64_t a, int64_t b) { return Int128(a) * b; }
UInt128 product(uint64_t a, uint64_t b) { return UInt128(a) * b; }
Int128 product(int64_t a, uint64_t b) { return Int128(a) * Int128(b); }
Int128 product(uint64_t a, int64_t b) { return Int128(a) * Int128(b); }

double to_double(uint64_t value) { return double(value); }
double to_double(UInt128 value) { return double(uint64_t(value)) + (value >> 64 ? 0x1p64 : 0.0); }

}  // namespace

void Worker::add_ints(const Block& block) {
    compare_count(block, 0);
    if (is_large_int(request_.sides[0].code) || is_large_int(request_.sides[1].code)) return add_large_ints(block);
    add_small_ints(block);
}

void Worker::add_small_ints(const Block& block) {
    Buffers& buffer = *buffers_;
    int64_t *a = reinterpret_cast<int64_t*>(buffer.ints_a), *b = reinterpret_cast<int64_t*>(buffer.ints_b);
    ops_.to_int64(request_.sides[0].code, block.raw[0], request_.sides[0].table, a, block.count);
    ops_.to_int64(request_.sides[1].code, block.raw[1], request_.sides[1].table, b, block.count);
    sum_small_ints(block, !loads_signed(request_.sides[0].code) && !loads_signed(request_.sides[1].code));
}

// Sums of the integers in the buffers, which have at most 32 bits.
void Worker::sum_small_ints(const Block& block, bool both_unsigned) {
    Buffers& buffer = *buffers_;
    const int64_t* a = reinterpret_cast<const int64_t*>(buffer.ints_a);
    const int64_t* b = reinterpret_cast<const int64_t*>(buffer.ints_b);
    IntSums sums;
    ops_.int_sums(a, b, both_unsigned, buffer.size, buffer.size_a, buffer.size_b, block.padded, &sums);
    totals_.dot.add(joined(sums.dot_low, sums.dot_high));
    totals_.square_a.add(joined(sums.square_a_low, sums.square_a_high));
    totals_.square_b.add(joined(sums.square_b_low, sums.square_b_high));
    totals_.total_diff.add(Int128(sums.total_diff));
    offer(block, UInt128(sums.max_diff), totals_.max_int_diff, [a, b](size_t i) { return UInt128(apart(a[i], b[i])); });
    elementwise(block);
}

void Worker::add_large_ints(const Block& block) {
    const bool signed_a = loads_signed(request_.sides[0].code), signed_b = loads_signed(request_.sides[1].code);
    if (signed_a) return signed_b ? large_ints<int64_t, int64_t>(block) : large_ints<int64_t, uint64_t>(block);
    signed_b ? large_ints<uint64_t, int64_t>(block) : large_ints<uint64_t, uint64_t>(block);
}

template <typename A, typename B>
void Worker::large_ints(const Block& block) {
    Buffers& buffer = *buffers_;
    using Distance = decltype(apart(A(), B()));
    A* a = reinterpret_cast<A*>(buffer.ints_a);
    B* b = reinterpret_cast<B*>(buffer.ints_b);
    load_ints(request_.sides[0], block.raw[0], a, block.count);
    load_ints(request_.sides[1], block.raw[1], b, block.count);
    std::fill(a + block.count, a + block.padded, 0);
    std::fill(b + block.count, b + block.padded, 0);
    if (all_below_2_31(a, block.padded) && all_below_2_31(b, block.padded)) return sum_small_ints(block, false);
    WideSum dot, square_a, square_b;
    UInt128 total = 0;
    Distance largest = 0;
    for (size_t i = 0; i < block.padded; ++i) {
        const Distance distance = apart(a[i], b[i]);
        dot.add(product(a[i], b[i]));
        square_a.add(product(a[i], a[i]));
        square_b.add(product(b[i], b[i]));
        total += distance;
        largest = std::max(largest, distance);
        buffer.size[i] = to_double(distance);
        buffer.size_a[i] = std::fabs(double(a[i]));
        buffer.size_b[i] = std::fabs(double(b[i]));
    }
    totals_.dot.add(dot);
    totals_.square_a.add(square_a);
    totals_.square_b.add(square_b);
    totals_.total_diff.add(total);
    offer(block, UInt128(largest), totals_.max_int_diff, [a, b](size_t i) { return UInt128(apart(a[i], b[i])); });
    elementwise(block);
}

}  // namespace precision
