#include "engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "worker.h"

namespace precision {

void ScaledSum::add(double value, int value_power) {
    if (value == 0) return;
    if (sum == 0 && carry == 0) {
        sum = value;
        power = value_power;
        return;
    }
    if (value_power != power) {
        // The larger number keeps its scale; bits of the other that fall away are far below its last place.
        if (std::ilogb(value) + value_power > std::ilogb(sum == 0 ? carry : sum) + power) {
            sum = std::ldexp(sum, power - value_power);
            carry = std::ldexp(carry, power - value_power);
            power = value_power;
        } else {
            value = std::ldexp(value, value_power - power);
        }
    }
    const double next = sum + value;
    carry += std::fabs(sum) >= std::fabs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
}

void ScaledSum::add(const ScaledSum& other) {
    add(other.sum, other.power);
    add(other.carry, other.power);
}

void WideSum::add(Int128 value) {
    low += uint64_t(value);
    high += Int128(value >> 64);
}

void WideSum::add(UInt128 value) {
    low += uint64_t(value);
    high += Int128(value >> 64);
}

void WideSum::add(const WideSum& other) {
    low += other.low;
    high += other.high;
}

void Counts::add(const Counts& other) {
    nan += other.nan;
    pos_inf += other.pos_inf;
    neg_inf += other.neg_inf;
}

namespace {

int64_t lower(int64_t x, int64_t y) { return x < 0 ? y : y < 0 ? x : std::min(x, y); }

void add_floats(FloatSums& to, const FloatSums& from) {
    to.dot.add(from.dot);
    to.square_a.add(from.square_a);
    to.square_b.add(from.square_b);
    to.square_diff.add(from.square_diff);
    to.total_diff.add(from.total_diff);
}

// A run of boxes of one piece.
struct Chunk {
    size_t walk;
    int64_t first, last;
};

constexpr int64_t kChunkElements = int64_t(1) << 18;
constexpr int64_t kMaxChunks = 1 << 14;

std::vector<Chunk> chunks_of(const std::vector<Walk>& walks) {
    int64_t elements = 0;
    for (const Walk& walk : walks) elements += walk.elements();
    const int64_t wanted = std::max(kChunkElements, elements / kMaxChunks);
    std::vector<Chunk> chunks;
    for (size_t index = 0; index < walks.size(); ++index) {
        const int64_t boxes = walks[index].boxes();
        const int64_t step = std::max<int64_t>(1, wanted / std::max<int64_t>(1, walks[index].elements_per_box()));
        for (int64_t first = 0; first < boxes; first += step)
            chunks.push_back({index, first, std::min(boxes, first + step)});
    }
    return chunks;
}

// Chunks handed out to threads; the first failure stops all of them.
class Crew {
public:
    Crew(const std::vector<Walk>& walks, const Request& request)
        : walks_(walks), chunks_(chunks_of(walks)), request_(request), sums_(chunks_.size()) {}

    Totals run(const std::function<bool()>& interrupted) {
        const size_t count = std::min<size_t>(size_t(std::max(request_.threads, 1)), chunks_.size());
        std::vector<std::thread> others;
        for (size_t i = 1; i < count; ++i) {
            try {
                others.emplace_back([this] { work(nullptr); });
            } catch (const std::system_error&) {
                break;  // no more threads to be had: those that run do the work
            }
        }
        work(&interrupted);
        for (std::thread& other : others) other.join();
        if (failure_) std::rethrow_exception(failure_);
        for (const FloatSums& sums : sums_) add_floats(totals_.floats, sums);
        return std::move(totals_);
    }

private:
    void work(const std::function<bool()>* interrupted) {
        try {
            Worker worker(request_);
            auto asked = std::chrono::steady_clock::now();
            for (size_t next; !stop_ && (next = next_++) < chunks_.size();) {
                const Chunk& chunk = chunks_[next];
                worker.add(walks_[chunk.walk], chunk.first, chunk.last, sums_[next]);
                const auto now = std::chrono::steady_clock::now();
                if (interrupted && now - asked > std::chrono::milliseconds(100)) {
                    asked = now;
                    if ((*interrupted)()) stop_ = true;
                }
            }
            const std::lock_guard<std::mutex> hold(mutex_);
            totals_.add(worker.totals());
        } catch (...) {
            const std::lock_guard<std::mutex> hold(mutex_);
            failure_ = std::current_exception();
            stop_ = true;
        }
    }

    const std::vector<Walk>& walks_;
    const std::vector<Chunk> chunks_;
    const Request& request_;
    std::vector<FloatSums> sums_;
    Totals totals_;
    std::atomic<size_t> next_{0};
    std::atomic<bool> stop_{false};
    std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace

void Totals::add(const Totals& other) {
    compared += other.compared;
    dot.add(other.dot);
    square_a.add(other.square_a);
    square_b.add(other.square_b);
    total_diff.add(other.total_diff);
    max_diff.offer(other.max_diff.value, other.max_diff.at);
    max_int_diff.offer(other.max_int_diff.value, other.max_int_diff.at);
    max_rel = std::max(max_rel, other.max_rel);
    nonfinite_a.add(other.nonfinite_a);
    nonfinite_b.add(other.nonfinite_b);
    nonfinite_equal.add(other.nonfinite_equal);
    nan_mismatches += other.nan_mismatches;
    inf_mismatches += other.inf_mismatches;
    first_nan_mismatch = lower(first_nan_mismatch, other.first_nan_mismatch);
    first_inf_mismatch = lower(first_inf_mismatch, other.first_inf_mismatch);
    bit_equal = bit_equal && other.bit_equal;
    max_ulp = std::max(max_ulp, other.max_ulp);
    equal += other.equal;
    zeros_b += other.zeros_b;
    over_1 += other.over_1;
    over_5 += other.over_5;
    violations += other.violations;
    rtol_needed = std::max(rtol_needed, other.rtol_needed);
    if (bins.size() < other.bins.size()) bins.resize(other.bins.size());
    for (size_t i = 0; i < other.bins.size(); ++i) bins[i] += other.bins[i];
}

Totals accumulate(const std::vector<Piece>& pieces, const Request& request, const std::function<bool()>& interrupted) {
    std::vector<Walk> walks;
    walks.reserve(pieces.size());
    for (const Piece& piece : pieces) walks.emplace_back(piece, request.sides);
    return Crew(walks, request).run(interrupted);
}

}  // namespace precision
