#include "walk.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace precision {
namespace {

template <typename Unit>
void copy_line(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, sizeof(Unit));
}

struct Wide {
    char bytes[16];
};

// `count` elements of `item` bytes from one step to another.
void copy(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count, size_t item) {
    if (to_step == int64_t(item) && from_step == int64_t(item)) {
        std::memcpy(to, from, size_t(count) * item);
        return;
    }
    switch (item) {
        case 1: copy_line<uint8_t>(to, to_step, from, from_step, count); break;
        case 2: copy_line<uint16_t>(to, to_step, from, from_step, count); break;
        case 4: copy_line<uint32_t>(to, to_step, from, from_step, count); break;
        case 8: copy_line<uint64_t>(to, to_step, from, from_step, count); break;
        default: copy_line<Wide>(to, to_step, from, from_step, count); break;
    }
}

template <typename Unit, Unit (*kSwap)(Unit)>
void swap_all(char* data, size_t bytes) {
    for (size_t i = 0; i < bytes; i += sizeof(Unit)) {
        Unit unit;
        std::memcpy(&unit, data + i, sizeof unit);
        unit = kSwap(unit);
        std::memcpy(data + i, &unit, sizeof unit);
    }
}

uint16_t swap16(uint16_t unit) { return __builtin_bswap16(unit); }
uint32_t swap32(uint32_t unit) { return __builtin_bswap32(unit); }
uint64_t swap64(uint64_t unit) { return __builtin_bswap64(unit); }

void swap_bytes(char* data, size_t bytes, size_t component) {
    switch (component) {
        case 2: swap_all<uint16_t, swap16>(data, bytes); break;
        case 4: swap_all<uint32_t, swap32>(data, bytes); break;
        case 8: swap_all<uint64_t, swap64>(data, bytes); break;
    }
}

}  // namespace

Walk::Walk(const Piece& piece, const Side (&sides)[2]) : sides_(sides) {
    order(piece);
    merge();
    dims_ = int(piece_.extent.size());
    for (int64_t extent : piece_.extent) elements_ *= extent;
    if (elements_ > 0) cut();
}

// Dimensions by falling stride of side 1, then of side 0; directions turned so that side 1 is walked forwards.
void Walk::order(const Piece& piece) {
    std::vector<size_t> kept;
    for (size_t k = 0; k < piece.extent.size(); ++k)
        if (piece.extent[k] != 1) kept.push_back(k);
    std::stable_sort(kept.begin(), kept.end(), [&piece](size_t x, size_t y) {
        const int64_t x1 = std::llabs(piece.stride[1][x]), y1 = std::llabs(piece.stride[1][y]);
        return x1 != y1 ? x1 > y1 : std::llabs(piece.stride[0][x]) > std::llabs(piece.stride[0][y]);
    });
    piece_.base = piece.base;
    for (int side = 0; side < 2; ++side) piece_.data[side] = piece.data[side];
    for (size_t k : kept) {
        const bool turned = piece.stride[1][k] < 0 || (piece.stride[1][k] == 0 && piece.stride[0][k] < 0);
        const int64_t last = piece.extent[k] - 1, sign = turned ? -1 : 1;
        if (turned && last > 0) {
            piece_.base += last * piece.step[k];
            for (int side = 0; side < 2; ++side) piece_.data[side] += last * piece.stride[side][k];
        }
        piece_.extent.push_back(piece.extent[k]);
        piece_.step.push_back(sign * piece.step[k]);
        for (int side = 0; side < 2; ++side) piece_.stride[side].push_back(sign * piece.stride[side][k]);
    }
}

void Walk::merge() {
    Piece merged;
    for (size_t k = 0; k < piece_.extent.size(); ++k) {
        const int64_t extent = piece_.extent[k];
        const auto follows = [extent, k](const std::vector<int64_t>& done, const std::vector<int64_t>& all) {
            return done.back() == all[k] * extent;
        };
        if (!merged.extent.empty() && follows(merged.step, piece_.step) && follows(merged.stride[0], piece_.stride[0]) &&
            follows(merged.stride[1], piece_.stride[1])) {
            merged.extent.back() *= extent;
            merged.step.back() = piece_.step[k];
            for (int side = 0; side < 2; ++side) merged.stride[side].back() = piece_.stride[side][k];
            continue;
        }
        merged.extent.push_back(extent);
        merged.step.push_back(piece_.step[k]);
        for (int side = 0; side < 2; ++side) merged.stride[side].push_back(piece_.stride[side][k]);
    }
    merged.base = piece_.base;
    for (int side = 0; side < 2; ++side) merged.data[side] = piece_.data[side];
    piece_ = std::move(merged);
}

// Boxes grow in turns along the memory of whichever side has the shorter contiguous run.
void Walk::cut() {
    for (int side = 0; side < 2; ++side) {
        std::iota(by_stride_[side], by_stride_[side] + dims_, 0);
        std::stable_sort(by_stride_[side], by_stride_[side] + dims_, [this, side](int x, int y) {
            return std::llabs(piece_.stride[side][size_t(x)]) < std::llabs(piece_.stride[side][size_t(y)]);
        });
    }
    std::fill(box_, box_ + dims_, 1);
    for (bool growing = dims_ > 0; growing;) {
        const int shorter = run(0) < run(1) ? 0 : 1;
        growing = grow(shorter, kBoxElements) || grow(1 - shorter, kBoxElements);
    }
    boxes_ = 1;
    for (int k = 0; k < dims_; ++k) {
        const int64_t extent = piece_.extent[size_t(k)];
        grid_[k] = (extent + box_[k] - 1) / box_[k];
        box_[k] = (extent + grid_[k] - 1) / grid_[k];  // boxes of like size instead of a small rest
        grid_[k] = (extent + box_[k] - 1) / box_[k];
        boxes_ *= grid_[k];
    }
}

bool Walk::grow(int side, size_t limit) {
    size_t volume = 1;
    for (int k = 0; k < dims_; ++k) volume *= size_t(box_[k]);
    for (int place = 0; place < dims_; ++place) {
        const int k = by_stride_[side][place];
        const int64_t extent = piece_.extent[size_t(k)];
        if (box_[k] == extent) continue;
        const int64_t others = int64_t(volume) / box_[k];
        const int64_t wanted = std::min(extent, std::max(box_[k] * 2, int64_t(1)));
        if (others * wanted > int64_t(limit)) return false;
        box_[k] = wanted;
        return true;
    }
    return false;
}

// Elements that one side reads without a gap.
size_t Walk::run(int side) const {
    int64_t length = 1;
    for (int place = 0; place < dims_; ++place) {
        const int k = by_stride_[side][place];
        if (std::llabs(piece_.stride[side][size_t(k)]) != length * int64_t(sides_[side].item)) break;
        length *= box_[k];
        if (box_[k] < piece_.extent[size_t(k)]) break;
    }
    return size_t(length);
}

int64_t Walk::elements_per_box() const {
    int64_t volume = 1;
    for (int k = 0; k < dims_; ++k) volume *= box_[k];
    return volume;
}

void Walk::enter(int64_t number, Box& box) const {
    for (int side = 0; side < 2; ++side) box.data[side] = piece_.data[side];
    box.base = piece_.base;
    box.count = 1;
    int64_t below = 0;
    for (int k = dims_ - 1; k >= 0; --k) {
        const int64_t start = number % grid_[k] * box_[k];
        number /= grid_[k];
        const size_t axis = size_t(k);
        box.extent[k] = std::min(box_[k], piece_.extent[axis] - start);
        box.count *= size_t(box.extent[k]);
        box.base += start * piece_.step[axis];
        below += std::min<int64_t>(0, (box.extent[k] - 1) * piece_.step[axis]);
        for (int side = 0; side < 2; ++side) box.data[side] += start * piece_.stride[side][axis];
    }
    box.lowest = box.base + below;
}

const char* Walk::fetch(const Box& box, int side, char* buffer) const {
    if (in_place(box, side)) return box.data[side];
    gather(box, side, buffer);
    if (sides_[side].swapped) swap_bytes(buffer, box.count * sides_[side].item, sides_[side].component);
    return buffer;
}

bool Walk::in_place(const Box& box, int side) const {
    const Side& kind = sides_[side];
    if (kind.swapped || reinterpret_cast<uintptr_t>(box.data[side]) % kind.component) return false;
    int64_t step = int64_t(kind.item);
    for (int k = dims_ - 1; k >= 0; --k) {
        if (box.extent[k] == 1) continue;
        if (piece_.stride[side][size_t(k)] != step) return false;
        step *= box.extent[k];
    }
    return true;
}

// Copies a box in walking order: one plane at a time, spanned by the dimension that is contiguous in the source and the
// one that is contiguous in the buffer (or the next one, where they are the same).
void Walk::gather(const Box& box, int side, char* buffer) const {
    const std::vector<int64_t>& stride = piece_.stride[side];
    const size_t item = sides_[side].item;
    int64_t to_step[kMaxDims], index[kMaxDims] = {};
    int inner = -1, source = -1, row = -1;
    int64_t step = int64_t(item);
    for (int k = dims_ - 1; k >= 0; --k) {
        to_step[k] = step;
        step *= box.extent[k];
        if (box.extent[k] == 1) continue;
        if (inner < 0) inner = k;
        if (source < 0 || std::llabs(stride[size_t(k)]) < std::llabs(stride[size_t(source)])) source = k;
    }
    if (inner < 0) {
        std::memcpy(buffer, box.data[side], item);
        return;
    }
    for (int k = inner - 1; k >= 0 && row < 0; --k)
        if (box.extent[k] > 1) row = k;
    const int line = inner, plane = source != inner ? source : row;
    const int64_t plane_extent = plane < 0 ? 1 : box.extent[plane];
    const int64_t plane_from = plane < 0 ? 0 : stride[size_t(plane)], plane_to = plane < 0 ? 0 : to_step[plane];
    const char* from = box.data[side];
    char* to = buffer;
    for (bool more = true; more;) {
        for (int64_t i = 0; i < plane_extent; ++i)
            copy(to + i * plane_to, to_step[line], from + i * plane_from, stride[size_t(line)], box.extent[line], item);
        more = false;
        for (int k = dims_ - 1; k >= 0; --k) {
            if (k == line || k == plane || box.extent[k] == 1) continue;
            from += stride[size_t(k)];
            to += to_step[k];
            if (++index[k] < box.extent[k]) {
                more = true;
                break;
            }
            from -= stride[size_t(k)] * box.extent[k];
            to -= to_step[k] * box.extent[k];
            index[k] = 0;
        }
    }
}

int64_t Walk::number(const Box& box, size_t position) const {
    int64_t result = box.base;
    int64_t rest = int64_t(position);
    for (int k = dims_ - 1; k >= 0; --k) {
        result += rest % box.extent[k] * piece_.step[size_t(k)];
        rest /= box.extent[k];
    }
    return result;
}

}  // namespace precision
