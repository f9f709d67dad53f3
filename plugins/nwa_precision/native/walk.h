// How a pair of strided arrays is walked: boxes of a few thousand elements, shaped so that both sides are read in long
// contiguous runs, and copied into buffers in one common order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace precision {

// One side of a comparison: what its elements are.
struct Side {
    int code = 0;
    size_t item = 0;        // bytes per element
    size_t component = 0;   // bytes that are swapped together: half an element where it is complex
    bool swapped = false;   // other byte order than this machine's
    const void* table = nullptr;
};

// A region of both tensors: dimension k has `extent[k]` elements, `stride[side][k]` bytes apart; the first element of the
// region is number `base` of the tensor and neighbours are `step[k]` numbers apart.
struct Piece {
    const char* data[2] = {nullptr, nullptr};
    std::vector<int64_t> extent;
    std::vector<int64_t> stride[2];
    std::vector<int64_t> step;
    int64_t base = 0;
};

constexpr int kMaxDims = 64;
constexpr size_t kBoxElements = 4096;

// A box of a piece while it is worked on.
struct Box {
    int64_t extent[kMaxDims];
    const char* data[2];
    int64_t base;        // number of the first element in walking order
    int64_t lowest;      // smallest number of any element
    size_t count;
};

// The piece with its dimensions in the order of side 1's memory, merged where possible, and cut into boxes.
class Walk {
public:
    Walk(const Piece& piece, const Side (&sides)[2]);

    int64_t boxes() const { return boxes_; }
    int64_t elements() const { return elements_; }
    int64_t elements_per_box() const;

    void enter(int64_t number, Box& box) const;

    // The elements of one side of a box, contiguous, aligned and in this machine's byte order: in place where they lie so,
    // else copied to `buffer`.
    const char* fetch(const Box& box, int side, char* buffer) const;

    // The number in the tensor of the box's element at a walking position.
    int64_t number(const Box& box, size_t position) const;

private:
    void order(const Piece& piece);
    void merge();
    void cut();
    bool grow(int side, size_t limit);
    size_t run(int side) const;
    bool in_place(const Box& box, int side) const;
    void gather(const Box& box, int side, char* buffer) const;

    const Side (&sides_)[2];
    Piece piece_;
    int dims_ = 0;
    int64_t box_[kMaxDims];
    int64_t grid_[kMaxDims];
    int by_stride_[2][kMaxDims];   // dimensions by rising stride of each side
    int64_t boxes_ = 0, elements_ = 1;
};

}  // namespace precision
