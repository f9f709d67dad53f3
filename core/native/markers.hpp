// Compiled markers: what the kernels need to find the lines that hold one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace autofuse {

// Bytes of a marker that the prefilter looks at.
constexpr int kWidth = 4;
constexpr int kBuckets = 8;

// One marker, or the fragment of it that the prefilter looks at: `anchor` bytes stand before the fragment.
struct Literal {
    std::string bytes;
    int64_t index = 0;
    int64_t anchor = 0;
};

class Markers {
  public:
    explicit Markers(const std::vector<std::string>& markers);

    bool empty() const { return literals_.empty(); }

    // For each byte of the fragment, one bit per bucket: set in the entry of a byte's low and of its high half when the
    // bucket has a fragment with such a byte there. A place is a candidate when a bit survives all of them.
    alignas(64) uint8_t low[kWidth][16];
    alignas(64) uint8_t high[kWidth][16];

    // The marker that begins first in the line, if one has its fragment at `at`; -1 if none has. `line` and `end` bound
    // the bytes it may take. Only the first candidate of a line that answers with a marker may be asked.
    int64_t find(const uint8_t* data, int64_t line, int64_t at, int64_t end) const;

  private:
    std::vector<Literal> literals_;
    // Literals by a hash of their fragment, and those that are shorter than a fragment.
    std::vector<std::vector<uint16_t>> by_fragment_;
    std::vector<uint16_t> short_;
    // Literals by their first byte, in the order in which they win.
    std::vector<uint16_t> by_first_byte_[256];
    int64_t largest_anchor_ = 0;

    void fill_buckets();
    bool matches(const Literal& literal, const uint8_t* data, int64_t begin, int64_t end) const;
    bool any_at(const uint8_t* data, int64_t line, int64_t at, int64_t end) const;
};

// The rows [start, end, marker, line] found so far.
class Rows {
  public:
    void add(int64_t start, int64_t end, int64_t marker, int64_t line);
    const std::vector<int64_t>& values() const { return values_; }

  private:
    std::vector<int64_t> values_;
};

}  // namespace autofuse
