// What the parts of the worker share: its buffers, the block it is at, and the search for the largest difference.
#pragma once

#include "worker.h"

namespace precision {

constexpr size_t kRoom = kBlock + kPad;

struct Worker::Buffers {
    alignas(64) char raw[2][kBoxElements * 16];
    alignas(64) double a[2][kRoom], b[2][kRoom];  // real and imaginary parts
    alignas(64) double scaled_a[2][kRoom], scaled_b[2][kRoom], diff[2][kRoom];
    alignas(64) double size[kRoom], size_a[kRoom], size_b[kRoom], unit[kRoom];
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
