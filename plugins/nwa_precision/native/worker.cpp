#include "worker.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "worker_state.h"

namespace precision {
namespace {

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

bool is_complex(int code) { return code >= kC32 && code <= kC128; }

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
    add_ints(block);
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
    double largest = 0;
    for (int side = 0; side < 2; ++side) {
        const Side& kind = request_.sides[side];
        largest = std::max(largest, ops_.to_double(kind.code, block.raw[side], kind.table, side ? b : a, block.count));
    }
    size_t excluded = 0;
    if (std::isinf(largest)) {
        excluded = leave_out_nonfinite(block, a, b);
        largest = std::max(ops_.max_abs(a, block.padded), ops_.max_abs(b, block.padded));
    }
    compare_count(block, excluded);
    if (largest > kHuge) {
        add_scaled(block, &a, &b, 1);
        return elementwise_huge(block, &a, &b, 1);
    }
    RealSums sums = {};
    sums.max_rel = totals_.max_rel;
    if (request_.everything) {
        Rule rule = {request_.atol, request_.rtol, totals_.rtol_needed, 0, false};
        ops_.real_rated(a, b, block.padded, &sums, &buffer.distribution, &rule);
        if (request_.tolerances) totals_.violations += rule.violations;
        if (rule.over) need_rtol(block, [a, b](size_t i) { return Limits{std::fabs(a[i] - b[i]), std::fabs(b[i]), 1}; });
    } else {
        ops_.real_basic(a, b, block.padded, &sums);
        if (request_.tolerances)
            totals_.violations += ops_.real_broken(a, b, block.padded, request_.atol, request_.rtol);
    }
    totals_.max_rel = std::max(totals_.max_rel, sums.max_rel);
    // Squares of narrower types neither overflow nor vanish in float64.
    const bool wide = request_.sides[0].code == kF64 || request_.sides[1].code == kF64;
    const auto usual = [this, &block](double square, const double* values) {
        return in_range(square) || (square == 0 && ops_.max_abs(values, block.padded) == 0);
    };
    if (!wide || (usual(sums.square_a, a) && usual(sums.square_b, b))) add_in_range(block, sums);
    else add_scaled(block, &a, &b, 1);
}

void Worker::add_in_range(const Block& block, const RealSums& sums) {
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
        int power = 0;
        std::frexp(sums.max_diff, &power);
        for (size_t i = 0; i < block.padded; ++i) buffer.diff[0][i] = std::ldexp(a[i] - b[i], -power);
        sums_->square_diff.add(ops_.inner(buffer.diff[0], buffer.diff[0], block.padded), 2 * power);
    }
    offer(block, sums.max_diff, totals_.max_diff, [a, b](size_t i) { return std::fabs(a[i] - b[i]); });
}

// Elements that take part, and zeros that stand for those that do not.
void Worker::compare_count(const Block& block, size_t excluded) {
    const int64_t fakes = int64_t(block.padded - block.count + excluded);
    totals_.compared += int64_t(block.count - excluded);
    totals_.zeros_b -= request_.everything ? fakes : 0;
    buffers_->fakes += fakes;
}

size_t Worker::leave_out_nonfinite(const Block& block, double* a, double* b) {
    NonfiniteCounts counts;
    ops_.count_nonfinite(a, b, block.padded, &counts);
    const auto add = [](Counts& to, const Nonfinite& from) { to.add({from.nan, from.pos_inf, from.neg_inf}); };
    add(totals_.nonfinite_a, counts.a);
    add(totals_.nonfinite_b, counts.b);
    add(totals_.nonfinite_equal, counts.equal);
    totals_.zeros_b += counts.zeros_b;
    const int64_t nan_mismatches = counts.a.nan + counts.b.nan - 2 * counts.equal.nan;
    const int64_t equal = counts.equal.nan + counts.equal.pos_inf + counts.equal.neg_inf;
    const int64_t inf_mismatches = counts.elements - equal - nan_mismatches;
    totals_.nan_mismatches += nan_mismatches;
    totals_.inf_mismatches += inf_mismatches;
    const auto is_nan = [a, b](size_t i) { return std::isnan(a[i]) != std::isnan(b[i]); };
    const auto is_inf = [a, b](size_t i) {
        return !std::isnan(a[i]) && !std::isnan(b[i]) && (std::isinf(a[i]) || std::isinf(b[i])) && a[i] != b[i];
    };
    if (nan_mismatches) find_first(block, totals_.first_nan_mismatch, is_nan);
    if (inf_mismatches) find_first(block, totals_.first_inf_mismatch, is_inf);
    ops_.leave_out(a, b, block.padded);
    return size_t(counts.elements);
}

// Lowers `first` to the lowest number of an element of the block that is one.
template <typename Is>
void Worker::find_first(const Block& block, int64_t& first, Is is) {
    if (first >= 0 && block.box.lowest >= first) return;
    for (size_t i = 0; i < block.count; ++i) {
        if (!is(i)) continue;
        const int64_t number = block.number(i);
        if (first < 0 || number < first) first = number;
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
        if (is_complex(kind.code)) {
            ops_.split_complex(kind.code, block.raw[side], parts[0], parts[1], block.count);
        } else {
            ops_.to_double(kind.code, block.raw[side], kind.table, parts[0], block.count);
            std::fill(parts[1], parts[1] + block.padded, 0.0);
        }
    }
    size_t excluded = 0;
    bool finite = true;
    for (int part = 0; part < 2; ++part)
        finite = finite && ops_.all_finite(parts_a[part], block.padded) && ops_.all_finite(parts_b[part], block.padded);
    if (!finite) excluded = leave_out_nonfinite(block, parts_a, parts_b);
    compare_count(block, excluded);
    const double largest = add_scaled(block, parts_a, parts_b, 2);
    if (largest > kHuge / 4) return elementwise_huge(block, parts_a, parts_b, 2);
    ops_.modulus(parts_a[0], parts_a[1], buffer.size_a, block.padded);
    ops_.modulus(parts_b[0], parts_b[1], buffer.size_b, block.padded);
    elementwise(block);
}

// A number is NaN when a part is, else infinite when a part is; infinite ones are equal when both parts are.
size_t Worker::leave_out_nonfinite(const Block& block, double* const* parts_a, double* const* parts_b) {
    size_t excluded = 0;
    double *real_a = parts_a[0], *imag_a = parts_a[1], *real_b = parts_b[0], *imag_b = parts_b[1];
    for (size_t i = 0; i < block.count; ++i) {
        const bool nan_a = std::isnan(real_a[i]) || std::isnan(imag_a[i]), nan_b = std::isnan(real_b[i]) || std::isnan(imag_b[i]);
        const bool inf_a = !nan_a && (std::isinf(real_a[i]) || std::isinf(imag_a[i]));
        const bool inf_b = !nan_b && (std::isinf(real_b[i]) || std::isinf(imag_b[i]));
        if (!(nan_a || nan_b || inf_a || inf_b)) continue;
        const bool same = inf_a && inf_b && real_a[i] == real_b[i] && imag_a[i] == imag_b[i];
        const auto this_one = [i](size_t other) { return other == i; };
        ++excluded;
        totals_.nonfinite_a.add({nan_a, inf_a, 0});
        totals_.nonfinite_b.add({nan_b, inf_b, 0});
        totals_.nonfinite_equal.add({nan_a && nan_b, same, 0});
        totals_.zeros_b += real_b[i] == 0 && imag_b[i] == 0;
        if (nan_a != nan_b) {
            ++totals_.nan_mismatches;
            find_first(block, totals_.first_nan_mismatch, this_one);
        } else if (!nan_a && !same) {
            ++totals_.inf_mismatches;
            find_first(block, totals_.first_inf_mismatch, this_one);
        }
        real_a[i] = imag_a[i] = real_b[i] = imag_b[i] = 0;
    }
    return excluded;
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
    if (power != 0) modulus(buffer.diff, buffer.size_a);
    sums_->total_diff.add(ops_.total(power != 0 ? buffer.size_a : buffer.size, n), power);
    const double* size = buffer.size;
    offer(block, max_diff, totals_.max_diff, [size](size_t i) { return size[i]; });
    return std::max(largest_a, largest_b);
}

// --- what every element contributes -------------------------------------------------------------------------------

// From |a-b|, |a| and |b| of a block.
void Worker::elementwise(const Block& block) {
    Buffers& buffer = *buffers_;
    const double *size = buffer.size, *size_b = buffer.size_b;
    double max_rel;
    if (request_.everything) {
        Rule rule = {request_.atol, request_.rtol, totals_.rtol_needed, 0, false};
        max_rel = ops_.sizes_rated(size, buffer.size_a, size_b, block.padded, &buffer.distribution, &rule);
        if (request_.tolerances) totals_.violations += rule.violations;
        if (rule.over) need_rtol(block, [size, size_b](size_t i) { return Limits{size[i], size_b[i], 1}; });
    } else {
        max_rel = ops_.sizes_basic(size, buffer.size_a, size_b, block.padded);
        if (request_.tolerances)
            totals_.violations += ops_.sizes_broken(size, size_b, block.padded, request_.atol, request_.rtol);
    }
    totals_.max_rel = std::max(totals_.max_rel, max_rel);
}

// From the elements, where |a-b| may be too large for a double: such elements are taken at a sixteenth, and tolerances and
// epsilon with them. Rare enough to be done one by one.
void Worker::elementwise_huge(const Block& block, double* const* parts_a, double* const* parts_b, int parts) {
    Buffers& buffer = *buffers_;
    const auto modulus = [this, parts](const double* from) {
        double size = std::fabs(from[0]);
        if (parts == 2) ops_.modulus(from, from + 1, &size, 1);
        return size;
    };
    for (size_t i = 0; i < block.padded; ++i) {
        double a[2] = {parts_a[0][i], parts == 2 ? parts_a[1][i] : 0}, b[2] = {parts_b[0][i], parts == 2 ? parts_b[1][i] : 0};
        const double unit = std::max(modulus(a), modulus(b)) > kHuge ? kShrunk : 1.0;
        buffer.distribution.zeros_b += request_.everything && b[0] == 0 && b[1] == 0;  // the smallest number shrinks to 0
        for (int part = 0; part < 2; ++part) a[part] *= unit, b[part] *= unit;
        const double diff[2] = {a[0] - b[0], a[1] - b[1]};
        const Limits limits = {modulus(diff), modulus(b), unit};
        const double rel = limits.size / (std::max(modulus(a), limits.size_b) + kEpsilon * unit);
        buffer.size[i] = limits.size, buffer.size_b[i] = limits.size_b, buffer.unit[i] = unit;
        totals_.max_rel = std::max(totals_.max_rel, rel);
        if (request_.tolerances)
            totals_.violations += !(limits.size <= request_.atol * unit + request_.rtol * limits.size_b);
        if (request_.everything) count_error(limits.size, rel);
    }
    if (!request_.everything) return;
    need_rtol(block, [&buffer](size_t i) { return Limits{buffer.size[i], buffer.size_b[i], buffer.unit[i]}; });
}

// As block_ops.cpp does for whole vectors.
void Worker::count_error(double size, double rel) {
    Distribution& counts = buffers_->distribution;
    counts.equal += size == 0;
    counts.over_1 += rel > 1e-3;
    counts.over_5 += rel > 5e-3;
    int64_t bits;
    std::memcpy(&bits, &rel, sizeof bits);
    ++counts.histogram[0][std::max<int64_t>((bits >> kBinShift) - (kFirstBin - 1), 0)];
}

// Raises rtol_needed until no element of the block breaks the rule.
template <typename At>
void Worker::need_rtol(const Block& block, At at) {
    double& rtol = totals_.rtol_needed;
    while (!std::isinf(rtol)) {
        double worst = -1;
        Limits found = {};
        for (size_t i = 0; i < block.count; ++i) {
            const Limits limits = at(i);
            const double atol = request_.atol * limits.unit;
            if (limits.size <= atol + rtol * limits.size_b) continue;
            const double ratio = (limits.size - atol) / limits.size_b;
            if (ratio > worst) worst = ratio, found = limits;
        }
        if (worst < 0) return;
        rtol = smallest_rtol(found.size, request_.atol * found.unit, found.size_b);
    }
}

}  // namespace precision
