#include "worker.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace precision {
namespace {

constexpr size_t kRoom = kBlock + kPad;
constexpr double kHuge = 0x1p1000;   // above, |a-b| may overflow although |a-b| / |a| does not
constexpr double kShrunk = 0.0625;   // such elements are taken at this share of their size
constexpr double kLowestSquare = 0x1p-120;  // blocks with sums of squares in this range are summed as they are
constexpr double kHighestSquare = 0x1p800;
constexpr double kLowestDiff = 0x1p-400;
constexpr int kUsualPower = 40;

size_t padded(size_t n) { return (n + kPad - 1) / kPad * kPad; }

bool in_range(double square) { return square >= kLowestSquare && square <= kHighestSquare; }

// The power of two to scale a block by, 0 where its squares are far from the limits of float64.
int power_of(double largest) {
    int power = 0;
    std::frexp(largest, &power);
    return std::abs(power) <= kUsualPower ? 0 : power;
}

bool is_signed(int code) { return code >= kI8 && code <= kI64; }

bool is_complex(int code) { return code >= kC32 && code <= kC128; }

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

// The smallest r with size <= atol + r * size_b in float64 arithmetic, or infinity: bisection over the bit patterns of
// positive doubles, which are ordered like the doubles.
double smallest_rtol(double size, double atol, double size_b) {
    const auto passes = [=](uint64_t bits) {
        double rtol;
        std::memcpy(&rtol, &bits, sizeof rtol);
        return size <= atol + rtol * size_b;
    };
    uint64_t low = 0, high = 0x7fefffffffffffffu;
    if (!passes(high)) return std::numeric_limits<double>::infinity();
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (passes(middle)) high = middle;
        else low = middle + 1;
    }
    double rtol;
    std::memcpy(&rtol, &low, sizeof rtol);
    return rtol;
}

}  // namespace

struct Worker::Buffers {
    alignas(64) char raw[2][kBoxElements * 16];
    alignas(64) double a[2][kRoom], b[2][kRoom];  // real and imaginary parts
    alignas(64) double scaled_a[2][kRoom], scaled_b[2][kRoom], diff[2][kRoom];
    alignas(64) double size[kRoom], size_a[kRoom], size_b[kRoom], rel[kRoom], unit[kRoom];
    alignas(64) uint64_t ints_a[kRoom], ints_b[kRoom];
    Distribution distribution = {};
    int64_t fakes = 0;            // zeros counted for padding and left out elements
    uint32_t since_flush = 0;
};

struct Worker::Block {
    const Walk& walk;
    const Box& box;
    size_t start, count, padded;
    const char* raw[2];

    int64_t number(size_t i) const { return walk.number(box, start + i); }
};

Worker::Worker(const Request& request) : request_(request), ops_(block_ops()), buffers_(new Buffers) {
    totals_.bins.assign(request.everything ? kBins : 0, 0);
}

Worker::~Worker() = default;

void Worker::add(const Walk& walk, int64_t first, int64_t last, FloatSums& sums) {
    sums_ = &sums;
    Box box;
    for (int64_t number = first; number < last; ++number) {
        walk.enter(number, box);
        const char* raw[2];
        for (int side = 0; side < 2; ++side) raw[side] = walk.fetch(box, side, buffers_->raw[side]);
        for (size_t start = 0; start < box.count; start += kBlock) {
            const size_t count = std::min(kBlock, box.count - start);
            add_block({walk, box, start, count, padded(count),
                       {raw[0] + start * request_.sides[0].item, raw[1] + start * request_.sides[1].item}});
        }
    }
}

Totals& Worker::totals() {
    if (!request_.everything) return totals_;
    Distribution& counts = buffers_->distribution;
    for (auto& histogram : counts.histogram) {
        for (int bin = 0; bin < kBins; ++bin) totals_.bins[size_t(bin)] += histogram[bin];
        std::memset(histogram, 0, sizeof histogram);
    }
    totals_.bins[0] -= buffers_->fakes;
    totals_.equal += counts.equal - buffers_->fakes;
    totals_.over_1 += counts.over_1;
    totals_.over_5 += counts.over_5;
    totals_.zeros_b += counts.zeros_b;
    counts.equal = counts.zeros_b = counts.over_1 = counts.over_5 = buffers_->fakes = 0;
    return totals_;
}

void Worker::add_block(const Block& block) {
    if (request_.everything) {
        bits(block);
        // The counters of a histogram have 32 bits.
        buffers_->since_flush += uint32_t(block.padded);
        if (buffers_->since_flush > 1u << 31) totals(), buffers_->since_flush = 0;
    }
    if (request_.family == Family::kReal) return add_real(block);
    if (request_.family == Family::kComplex) return add_complex(block);
    totals_.compared += int64_t(block.count);
    if (is_large_int(request_.sides[0].code) || is_large_int(request_.sides[1].code)) return add_large_ints(block);
    add_small_ints(block);
}

void Worker::bits(const Block& block) {
    if (!request_.same_type) {
        totals_.bit_equal = false;
        return;
    }
    const char *a = block.raw[0], *b = block.raw[1];
    const size_t n = block.count;
    totals_.bit_equal = totals_.bit_equal && !std::memcmp(a, b, n * request_.sides[0].item);
    if (!request_.ulp) return;
    uint64_t ulp = 0;
    switch (request_.sides[0].code) {
        case kF16: ulp = ops_.ulp16(a, b, 0x7c00, n); break;
        case kBF16: ulp = ops_.ulp16(a, b, 0x7f80, n); break;
        case kF32: ulp = ops_.ulp32(a, b, n); break;
        case kF64: ulp = ops_.ulp64(a, b, n); break;
    }
    totals_.max_ulp = std::max(totals_.max_ulp, ulp);
}

// --- real numbers -------------------------------------------------------------------------------------------------

void Worker::add_real(const Block& block) {
    Buffers& buffer = *buffers_;
    double *a = buffer.a[0], *b = buffer.b[0];
    const size_t n = block.count;
    ops_.to_double(request_.sides[0].code, block.raw[0], request_.sides[0].table, a, n);
    ops_.to_double(request_.sides[1].code, block.raw[1], request_.sides[1].table, b, n);
    std::fill(a + n, a + block.padded, 0.0);
    std::fill(b + n, b + block.padded, 0.0);
    size_t excluded = 0;
    RealSums sums = sum_real(block);
    // Squares of float32 neither overflow nor vanish in float64: sums of squares tell what a pass over the elements would.
    const bool finite = std::isfinite(sums.square_a) && std::isfinite(sums.square_b);
    if (!finite && !(ops_.all_finite(a, block.padded) && ops_.all_finite(b, block.padded))) {
        excluded = drop_nonfinite(block, &a, &b, 1);
        sums = sum_real(block);
    }
    totals_.compared += int64_t(n - excluded);
    buffer.fakes += int64_t(block.padded - n + excluded);
    const bool wide = request_.sides[0].code == kF64 || request_.sides[1].code == kF64;
    const auto usual = [this, &block](double square, const double* values) {
        return in_range(square) || (square == 0 && ops_.max_abs(values, block.padded) == 0);
    };
    if (!wide || (usual(sums.square_a, a) && usual(sums.square_b, b))) return add_in_range(block, sums, excluded);
    const double largest = add_scaled(block, &a, &b, 1);
    if (largest > kHuge) return elementwise_huge(block, &a, &b, 1, excluded);
    for (size_t i = 0; i < block.padded; ++i) buffer.size_a[i] = std::fabs(a[i]), buffer.size_b[i] = std::fabs(b[i]);
    elementwise(block, excluded);
}

RealSums Worker::sum_real(const Block& block) {
    Buffers& buffer = *buffers_;
    RealSums sums = {};
    sums.max_rel = totals_.max_rel;
    if (keeps_elements()) ops_.real_sums(buffer.a[0], buffer.b[0], buffer.size, buffer.rel, block.padded, &sums);
    else ops_.real_sums_only(buffer.a[0], buffer.b[0], block.padded, &sums);
    return sums;
}

void Worker::add_in_range(const Block& block, const RealSums& sums, size_t excluded) {
    Buffers& buffer = *buffers_;
    const double *a = buffer.a[0], *b = buffer.b[0];
    sums_->dot.add(sums.dot, 0);
    sums_->square_a.add(sums.square_a, 0);
    sums_->square_b.add(sums.square_b, 0);
    sums_->total_diff.add(sums.total_diff, 0);
    if (sums.max_diff == 0 || sums.max_diff >= kLowestDiff) {
        sums_->square_diff.add(sums.square_diff, 0);
    } else {
        // Tiny differences beside larger equal elements: their squares would be 0.
        const int power = power_of(sums.max_diff);
        for (size_t i = 0; i < block.padded; ++i) buffer.diff[0][i] = std::ldexp(a[i] - b[i], -power);
        sums_->square_diff.add(ops_.inner(buffer.diff[0], buffer.diff[0], block.padded), 2 * power);
    }
    totals_.max_rel = std::max(totals_.max_rel, sums.max_rel);
    offer(block, sums.max_diff, totals_.max_diff, [a, b](size_t i) { return std::fabs(a[i] - b[i]); });
    if (keeps_elements()) rate(block, b, excluded);
}

size_t Worker::drop_nonfinite(const Block& block, double* const* parts_a, double* const* parts_b, int parts) {
    size_t excluded = 0;
    for (size_t i = 0; i < block.count; ++i) {
        double size_a = 0, size_b = 0;  // not finite when a part is not
        for (int part = 0; part < parts; ++part) size_a += parts_a[part][i] * 0, size_b += parts_b[part][i] * 0;
        if (size_a == 0 && size_b == 0) continue;
        ++excluded;
        classify(block, i, parts_a, parts_b, parts);
        for (int part = 0; part < parts; ++part) parts_a[part][i] = parts_b[part][i] = 0;
    }
    return excluded;
}

void Worker::classify(const Block& block, size_t i, double* const* parts_a, double* const* parts_b, int parts) {
    bool nan_a = false, nan_b = false, inf_a = false, inf_b = false, same = true, zero_b = true;
    for (int part = 0; part < parts; ++part) {
        const double a = parts_a[part][i], b = parts_b[part][i];
        nan_a |= std::isnan(a), nan_b |= std::isnan(b);
        inf_a |= std::isinf(a), inf_b |= std::isinf(b);
        same &= a == b;
        zero_b &= b == 0;
    }
    // An infinite complex number has no sign: it counts as positive.
    const bool minus_a = parts == 1 && parts_a[0][i] < 0, minus_b = parts == 1 && parts_b[0][i] < 0;
    const auto count = [](Counts& counts, bool nan, bool inf, bool minus) {
        if (nan) ++counts.nan;
        else if (inf) ++(minus ? counts.neg_inf : counts.pos_inf);
    };
    count(totals_.nonfinite_a, nan_a, inf_a, minus_a);
    count(totals_.nonfinite_b, nan_b, inf_b, minus_b);
    totals_.zeros_b += zero_b;
    if (nan_a && nan_b) {
        ++totals_.nonfinite_equal.nan;
    } else if (nan_a || nan_b) {
        if (!totals_.nan_mismatches++ || block.box.lowest < totals_.first_nan_mismatch) {
            const int64_t at = block.number(i);
            if (totals_.first_nan_mismatch < 0 || at < totals_.first_nan_mismatch) totals_.first_nan_mismatch = at;
        }
    } else if (same) {
        count(totals_.nonfinite_equal, false, true, minus_a);
    } else if (!totals_.inf_mismatches++ || block.box.lowest < totals_.first_inf_mismatch) {
        const int64_t at = block.number(i);
        if (totals_.first_inf_mismatch < 0 || at < totals_.first_inf_mismatch) totals_.first_inf_mismatch = at;
    }
}

// --- complex numbers, and reals whose squares leave the range of float64 -----------------------------------------------

void Worker::add_complex(const Block& block) {
    Buffers& buffer = *buffers_;
    double* const parts_a[2] = {buffer.a[0], buffer.a[1]};
    double* const parts_b[2] = {buffer.b[0], buffer.b[1]};
    for (int side = 0; side < 2; ++side) {
        double* const* parts = side ? parts_b : parts_a;
        const Side& kind = request_.sides[side];
        for (int part = 0; part < 2; ++part) std::fill(parts[part], parts[part] + block.padded, 0.0);
        if (is_complex(kind.code)) ops_.split_complex(kind.code, block.raw[side], parts[0], parts[1], block.count);
        else ops_.to_double(kind.code, block.raw[side], kind.table, parts[0], block.count);
    }
    size_t excluded = 0;
    bool finite = true;
    for (int part = 0; part < 2; ++part)
        finite = finite && ops_.all_finite(parts_a[part], block.padded) && ops_.all_finite(parts_b[part], block.padded);
    if (!finite) excluded = drop_nonfinite(block, parts_a, parts_b, 2);
    totals_.compared += int64_t(block.count - excluded);
    buffer.fakes += int64_t(block.padded - block.count + excluded);
    const double largest = add_scaled(block, parts_a, parts_b, 2);
    if (largest > kHuge / 4) return elementwise_huge(block, parts_a, parts_b, 2, excluded);
    ops_.modulus(parts_a[0], parts_a[1], buffer.size_a, block.padded);
    ops_.modulus(parts_b[0], parts_b[1], buffer.size_b, block.padded);
    elementwise(block, excluded);
}

// Float sums of scaled values, and the largest difference; leaves |a-b| in `size` and gives the largest part of any value.
double Worker::add_scaled(const Block& block, double* const* parts_a, double* const* parts_b, int parts) {
    Buffers& buffer = *buffers_;
    const size_t n = block.padded;
    const auto largest_of = [this, n, parts](const auto& arrays) {
        double largest = 0;
        for (int part = 0; part < parts; ++part) largest = std::max(largest, ops_.max_abs(arrays[part], n));
        return largest;
    };
    const auto rescale = [this, n, parts](const auto& from, int power, auto& to) {
        if (power == 0) {
            for (int part = 0; part < parts; ++part) std::memmove(to[part], from[part], n * sizeof(double));
            return;
        }
        // In two steps: 2^1074 is no double.
        for (int part = 0; part < parts; ++part) {
            ops_.scale(from[part], std::ldexp(1.0, power / 2), to[part], n);
            ops_.scale(to[part], std::ldexp(1.0, power - power / 2), to[part], n);
        }
    };
    const auto inner = [this, n, parts](const auto& x, const auto& y) {
        double sum = 0;
        for (int part = 0; part < parts; ++part) sum += ops_.inner(x[part], y[part], n);
        return sum;
    };
    const auto modulus = [this, n, parts](const auto& from, double* to) {
        if (parts == 2) return ops_.modulus(from[0], from[1], to, n);
        for (size_t i = 0; i < n; ++i) to[i] = std::fabs(from[0][i]);
    };
    const double largest_a = largest_of(parts_a), largest_b = largest_of(parts_b);
    const int power_a = power_of(largest_a), power_b = power_of(largest_b);
    rescale(parts_a, -power_a, buffer.scaled_a);
    rescale(parts_b, -power_b, buffer.scaled_b);
    sums_->dot.add(inner(buffer.scaled_a, buffer.scaled_b), power_a + power_b);
    sums_->square_a.add(inner(buffer.scaled_a, buffer.scaled_a), 2 * power_a);
    sums_->square_b.add(inner(buffer.scaled_b, buffer.scaled_b), 2 * power_b);

    for (int part = 0; part < parts; ++part)
        for (size_t i = 0; i < n; ++i) buffer.diff[part][i] = parts_a[part][i] - parts_b[part][i];
    modulus(buffer.diff, buffer.size);
    const double max_diff = ops_.max_abs(buffer.size, n);
    int power = power_of(largest_of(buffer.diff));
    if (std::isinf(max_diff)) {
        // The difference is too large for a double; its sums need not be.
        power = std::max(power_a, power_b);
        rescale(buffer.scaled_a, power_a - power, buffer.scaled_a);
        rescale(buffer.scaled_b, power_b - power, buffer.scaled_b);
        for (int part = 0; part < parts; ++part)
            for (size_t i = 0; i < n; ++i) buffer.diff[part][i] = buffer.scaled_a[part][i] - buffer.scaled_b[part][i];
    } else {
        rescale(buffer.diff, -power, buffer.diff);
    }
    sums_->square_diff.add(inner(buffer.diff, buffer.diff), 2 * power);
    if (power != 0) modulus(buffer.diff, buffer.rel);
    sums_->total_diff.add(ops_.total(power != 0 ? buffer.rel : buffer.size, n), power);
    const double* size = buffer.size;
    offer(block, max_diff, totals_.max_diff, [size](size_t i) { return size[i]; });
    return std::max(largest_a, largest_b);
}

// --- integers -----------------------------------------------------------------------------------------------------

void Worker::add_small_ints(const Block& block) {
    Buffers& buffer = *buffers_;
    int64_t *a = reinterpret_cast<int64_t*>(buffer.ints_a), *b = reinterpret_cast<int64_t*>(buffer.ints_b);
    ops_.to_int64(request_.sides[0].code, block.raw[0], request_.sides[0].table, a, block.count);
    ops_.to_int64(request_.sides[1].code, block.raw[1], request_.sides[1].table, b, block.count);
    std::fill(a + block.count, a + block.padded, 0);
    std::fill(b + block.count, b + block.padded, 0);
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
    buffer.fakes += int64_t(block.padded - block.count);
    elementwise(block, 0);
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
    buffer.fakes += int64_t(block.padded - block.count);
    elementwise(block, 0);
}

// --- what every element contributes ---------------------------------------------------------------------------------

// From |a-b|, |a| and |b| of a block.
void Worker::elementwise(const Block& block, size_t excluded) {
    Buffers& buffer = *buffers_;
    const double largest = ops_.relative(buffer.size, buffer.size_a, buffer.size_b, buffer.rel, block.padded);
    totals_.max_rel = std::max(totals_.max_rel, largest);
    if (keeps_elements()) rate(block, buffer.size_b, excluded);
}

// The same where |a-b| may be too large for a double: such elements are taken at a sixteenth, tolerances and epsilon too.
void Worker::elementwise_huge(
    const Block& block, double* const* parts_a, double* const* parts_b, int parts, size_t excluded) {
    Buffers& buffer = *buffers_;
    const auto modulus = [this](double real, double imag) {
        double size;
        ops_.modulus(&real, &imag, &size, 1);
        return size;
    };
    int64_t violations = 0;
    for (size_t i = 0; i < block.padded; ++i) {
        double a[2] = {parts_a[0][i], parts == 2 ? parts_a[1][i] : 0}, b[2] = {parts_b[0][i], parts == 2 ? parts_b[1][i] : 0};
        buffer.size_a[i] = modulus(b[0], b[1]);  // not shrunk: the smallest number would count as 0
        const bool huge = std::max(modulus(a[0], a[1]), buffer.size_a[i]) > kHuge;
        const double unit = huge ? kShrunk : 1.0;
        for (int part = 0; part < 2; ++part) a[part] *= unit, b[part] *= unit;
        buffer.unit[i] = unit;
        buffer.size[i] = modulus(a[0] - b[0], a[1] - b[1]);
        buffer.size_b[i] = modulus(b[0], b[1]);
        buffer.rel[i] = buffer.size[i] / (std::max(modulus(a[0], a[1]), buffer.size_b[i]) + kEpsilon * unit);
        totals_.max_rel = std::max(totals_.max_rel, buffer.rel[i]);
        violations += !(buffer.size[i] <= request_.atol * unit + request_.rtol * buffer.size_b[i]);
    }
    if (request_.tolerances) totals_.violations += violations;
    if (!request_.everything) return;
    Rule unused = {};
    distribute(block, buffer.size_a, excluded, &unused);
    need_rtol(block, buffer.size_b, buffer.unit);
}

// From |a-b|, the relative errors and b of a block.
void Worker::rate(const Block& block, const double* b, size_t excluded) {
    Rule rule = {request_.atol, request_.rtol, totals_.rtol_needed, 0, false};
    if (request_.everything) distribute(block, b, excluded, &rule);
    else ops_.check(buffers_->size, b, block.padded, &rule);
    if (request_.tolerances) totals_.violations += rule.violations;
    if (request_.everything && rule.over) need_rtol(block, b, nullptr);
}

void Worker::distribute(const Block& block, const double* b, size_t excluded, Rule* rule) {
    ops_.rate(buffers_->size, buffers_->rel, b, block.padded, &buffers_->distribution, rule);
    totals_.zeros_b -= int64_t(block.padded - block.count + excluded);
}

// Raises rtol_needed until no element of the block breaks the rule; `unit` scales atol, null for 1.
void Worker::need_rtol(const Block& block, const double* b, const double* unit) {
    const double* size = buffers_->size;
    double& rtol = totals_.rtol_needed;
    while (!std::isinf(rtol)) {
        double worst = -1;
        size_t at = 0;
        for (size_t i = 0; i < block.count; ++i) {
            const double atol = unit ? request_.atol * unit[i] : request_.atol, size_b = std::fabs(b[i]);
            if (size[i] <= atol + rtol * size_b) continue;
            const double ratio = (size[i] - atol) / size_b;
            if (ratio > worst) worst = ratio, at = i;
        }
        if (worst < 0) return;
        rtol = smallest_rtol(size[at], unit ? request_.atol * unit[at] : request_.atol, std::fabs(b[at]));
    }
}

template <typename Value, typename At>
void Worker::offer(const Block& block, Value largest, Largest<Value>& best, At at) {
    if (largest == 0 || largest < best.value || (largest == best.value && block.box.lowest >= best.at)) return;
    int64_t lowest = -1;
    for (size_t i = 0; i < block.count; ++i) {
        if (at(i) != largest) continue;
        const int64_t number = block.number(i);
        if (lowest < 0 || number < lowest) lowest = number;
    }
    best.offer(largest, lowest);
}

}  // namespace precision
