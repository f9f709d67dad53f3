// Compiled markers: what the kernels need to find the lines that hold one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace autofuse {

// Bytes of a marker that the prefilter looks at: its fragment.
constexpr int kWidth = 4;
constexpr int kBuckets = 8;

// Pieces of the text that is searched. They tell which fragments are rare: log lines are full of the words that markers
// are made of, so that the bytes alone do not tell.
class Sample {
  public:
    Sample() = default;
    Sample(const uint8_t* data, int64_t start, int64_t end);

    const std::vector<uint8_t>& bytes() const { return bytes_; }

  private:
    std::vector<uint8_t> bytes_;
};

// A marker that begins at `begin`; of two in a line the lesser one counts.
struct Hit {
    int64_t begin;
    int64_t size;
    int64_t index;

    bool before(const Hit& other) const {
        if (begin != other.begin) return begin < other.begin;
        return size != other.size ? size > other.size : index < other.index;
    }
};

class Markers {
  public:
    Markers(const std::vector<std::string>& markers, const Sample& sample);

    bool empty() const { return literals_.empty(); }

    // For each byte of the fragment, one bit per bucket: set in the entry of a byte's low and of its high half when the
    // bucket has a fragment with such a byte there. A place is a candidate when a bit survives all of them.
    alignas(64) uint8_t low[kWidth][16];
    alignas(64) uint8_t high[kWidth][16];

    // How far behind its begin a marker's fragment may stand.
    int64_t reach() const { return reach_; }

    // Whether a marker has its fragment at `at` and lies within data[line:end]; `best` becomes it if it comes before.
    bool find(const uint8_t* data, int64_t line, int64_t at, int64_t end, Hit& best) const {
        bool found = false;
        if (end - at >= kWidth) {
            const uint32_t fragment = load(data + at);
            for (uint32_t which = heads_[slot(fragment)]; which; which = literals_[which].next) {
                if (literals_[which].fragment == fragment) found |= check(literals_[which], data, line, at, end, best);
            }
        }
        for (uint32_t which = short_; which; which = literals_[which].next) {
            found |= check(literals_[which], data, line, at, end, best);
        }
        return found;
    }

  private:
    struct Literal {
        std::string bytes;
        int64_t index = 0;
        int64_t anchor = 0;  // Bytes before the fragment.
        uint32_t fragment = 0;
        uint32_t next = 0;  // Of those in the same slot; 0 ends the chain.
    };
    // The first one is none, so that 0 can end a chain.
    std::vector<Literal> literals_;
    static constexpr uint32_t kSlots = 1024;
    uint32_t heads_[kSlots] = {};
    // Those that are shorter than a fragment.
    uint32_t short_ = 0;
    int64_t reach_ = 0;

    static uint32_t load(const uint8_t* fragment) {
        uint32_t value;
        std::memcpy(&value, fragment, sizeof value);
        return value;
    }
    static uint32_t slot(uint32_t fragment) { return (fragment * 2654435761u) >> 22; }

    static bool check(const Literal& literal, const uint8_t* data, int64_t line, int64_t at, int64_t end, Hit& best) {
        const int64_t begin = at - literal.anchor;
        const auto size = static_cast<int64_t>(literal.bytes.size());
        if (begin < line || size > end - begin) return false;
        if (std::memcmp(data + begin, literal.bytes.data(), literal.bytes.size()) != 0) return false;
        const Hit hit{begin, size, literal.index};
        if (hit.before(best)) best = hit;
        return true;
    }

    void fill_buckets(const std::vector<double>& shares);
};

// The rows [start, end, marker, line] found so far.
class Rows {
  public:
    void add(int64_t start, int64_t end, int64_t marker, int64_t line) {
        if (used_ == values_.size()) values_.resize(values_.empty() ? 1024 : 2 * used_);
        int64_t* row = values_.data() + used_;
        row[0] = start;
        row[1] = end;
        row[2] = marker;
        row[3] = line;
        used_ += 4;
    }

    const int64_t* data() const { return values_.data(); }
    size_t size() const { return used_; }

  private:
    std::vector<int64_t> values_;
    size_t used_ = 0;
};

}  // namespace autofuse
