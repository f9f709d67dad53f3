// One thread's share of a comparison: decodes blocks of paired elements and adds them up.
#pragma once

#include <memory>

#include "engine.h"
#include "kernel.h"
#include "walk.h"

namespace precision {

class Worker {
public:
    explicit Worker(const Request& request);
    ~Worker();

    // Adds the boxes [first, last) of a walk; the float sums go to `sums`, everything else to the totals.
    void add(const Walk& walk, int64_t first, int64_t last, FloatSums& sums);

    Totals& totals();

private:
    struct Buffers;
    struct Block;
    // Of one element: |a-b|, |b|, and what the absolute tolerance is multiplied by.
    struct Limits {
        double size, size_b, unit;
    };

    void add_block(const Block& block);
    void bits(const Block& block);
    void add_real(const Block& block);
    void add_complex(const Block& block);
    void add_ints(const Block& block);
    void add_small_ints(const Block& block);
    void sum_small_ints(const Block& block, bool both_unsigned);
    void add_large_ints(const Block& block);
    template <typename A, typename B>
    void large_ints(const Block& block);
    size_t leave_out_nonfinite(const Block& block, double* a, double* b);
    size_t leave_out_nonfinite(const Block& block, double* const* parts_a, double* const* parts_b);
    template <typename Is>
    void find_first(const Block& block, int64_t& first, Is is);
    void compare_count(const Block& block, size_t excluded);
    void add_in_range(const Block& block, const RealSums& sums);
    double add_scaled(const Block& block, double* const* parts_a, double* const* parts_b, int parts);
    void elementwise(const Block& block);
    void elementwise_huge(const Block& block, double* const* parts_a, double* const* parts_b, int parts);
    void count_error(double size, double rel);
    template <typename At>
    void need_rtol(const Block& block, At at);
    template <typename Value, typename At>
    void offer(const Block& block, Value largest, Largest<Value>& best, At at);

    const Request& request_;
    const BlockOps& ops_;
    Totals totals_;
    std::unique_ptr<Buffers> buffers_;
    FloatSums* sums_ = nullptr;
};

}  // namespace precision
