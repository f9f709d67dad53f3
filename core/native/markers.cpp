#include "markers.hpp"

#include <algorithm>
#include <cstring>

namespace autofuse {

namespace {

// Rarity of ASCII bytes in logs: -16 log2 of the share of the byte, over plog files of several CANN versions and the
// DEBUG logs of tiling runs (mean of both shares, as the two are used alike).
constexpr uint8_t kRarity[128] = {
    224, 224, 224, 224, 224, 224, 224, 224, 224, 160, 121, 224, 224, 224, 224, 224,  //
    224, 224, 224, 224, 224, 224, 224, 224, 224, 224, 224, 224, 224, 224, 224, 224,  //
    62,  224, 156, 203, 224, 224, 224, 212, 120, 120, 171, 217, 94,  101, 96,  127,  // space to /
    64,  83,  81,  93,  95,  102, 102, 100, 108, 105, 78,  186, 224, 143, 224, 224,  // 0 to ?
    224, 134, 141, 135, 129, 116, 122, 123, 172, 122, 224, 168, 155, 140, 126, 129,  // @ to O
    141, 224, 124, 138, 125, 139, 169, 185, 224, 219, 224, 93,  219, 93,  224, 74,   // P to _
    224, 78,  117, 82,  95,  72,  105, 100, 101, 79,  204, 140, 86,  101, 82,  83,   // ` to o
    85,  205, 78,  78,  77,  89,  110, 145, 106, 114, 133, 192, 201, 195, 224, 224,  // p to ~
};
constexpr int kRarityOfHighBytes = 176;

int rarity(uint8_t byte) { return byte < 128 ? kRarity[byte] : kRarityOfHighBytes; }

double share(int byte) {
    double result = 1.0;
    for (int left = rarity(static_cast<uint8_t>(byte)); left >= 16; left -= 16) result /= 2;
    return result;
}

uint8_t byte_of(const std::string& text, size_t at) { return static_cast<uint8_t>(text[at]); }

// A fragment far into the marker would make every hit look far back for a marker that begins earlier.
constexpr size_t kLastAnchor = 24;

int64_t best_anchor(const std::string& text) {
    int best = -1;
    int64_t anchor = 0;
    for (size_t at = 0; at + kWidth <= text.size() && at <= kLastAnchor; ++at) {
        int sum = 0;
        for (size_t k = 0; k < kWidth; ++k) sum += rarity(byte_of(text, at + k));
        if (sum > best) {
            best = sum;
            anchor = static_cast<int64_t>(at);
        }
    }
    return anchor;
}

constexpr size_t kHashSize = 1024;

size_t hash_of(const uint8_t* fragment) {
    uint32_t value;
    std::memcpy(&value, fragment, sizeof value);
    return (value * 2654435761u) >> 22;
}

// The nibble sets of one bucket, and how often they let a byte sequence of a log pass.
struct Bucket {
    uint16_t low[kWidth] = {};
    uint16_t high[kWidth] = {};

    void add(const Literal& literal) {
        for (size_t k = 0; k < kWidth; ++k) {
            const size_t at = static_cast<size_t>(literal.anchor) + k;
            const bool any = at >= literal.bytes.size();
            const uint8_t byte = any ? 0 : byte_of(literal.bytes, at);
            low[k] |= any ? 0xFFFF : static_cast<uint16_t>(1u << (byte & 15));
            high[k] |= any ? 0xFFFF : static_cast<uint16_t>(1u << (byte >> 4));
        }
    }

    double passes() const {
        double result = 1.0;
        for (int k = 0; k < kWidth; ++k) {
            double sum = 0.0;
            for (int byte = 0; byte < 256; ++byte) {
                if ((low[k] >> (byte & 15) & 1) && (high[k] >> (byte >> 4) & 1)) sum += share(byte);
            }
            result *= sum;
        }
        return result;
    }
};

}  // namespace

Markers::Markers(const std::vector<std::string>& markers) : by_fragment_(kHashSize) {
    for (size_t index = 0; index < markers.size(); ++index) {
        const auto same = [&](const Literal& other) { return other.bytes == markers[index]; };
        if (std::any_of(literals_.begin(), literals_.end(), same)) continue;
        literals_.push_back({markers[index], static_cast<int64_t>(index), best_anchor(markers[index])});
    }
    std::stable_sort(literals_.begin(), literals_.end(),
                     [](const Literal& a, const Literal& b) { return a.bytes.size() > b.bytes.size(); });
    for (size_t which = 0; which < literals_.size(); ++which) {
        const Literal& literal = literals_[which];
        const auto number = static_cast<uint16_t>(which);
        by_first_byte_[byte_of(literal.bytes, 0)].push_back(number);
        largest_anchor_ = std::max(largest_anchor_, literal.anchor);
        if (literal.bytes.size() < kWidth) {
            short_.push_back(number);
        } else {
            const auto* bytes = reinterpret_cast<const uint8_t*>(literal.bytes.data());
            by_fragment_[hash_of(bytes + literal.anchor)].push_back(number);
        }
    }
    fill_buckets();
}

// Each literal goes where it lets the fewest other byte sequences pass.
void Markers::fill_buckets() {
    Bucket buckets[kBuckets];
    double passes[kBuckets] = {};
    for (const Literal& literal : literals_) {
        int best = 0;
        double least = 1e9;
        for (int which = 0; which < kBuckets; ++which) {
            Bucket grown = buckets[which];
            grown.add(literal);
            const double more = grown.passes() - passes[which];
            if (more < least) {
                least = more;
                best = which;
            }
        }
        buckets[best].add(literal);
        passes[best] = buckets[best].passes();
    }
    for (int k = 0; k < kWidth; ++k) {
        for (int half = 0; half < 16; ++half) {
            low[k][half] = high[k][half] = 0;
            for (int which = 0; which < kBuckets; ++which) {
                low[k][half] |= static_cast<uint8_t>((buckets[which].low[k] >> half & 1) << which);
                high[k][half] |= static_cast<uint8_t>((buckets[which].high[k] >> half & 1) << which);
            }
        }
    }
}

bool Markers::matches(const Literal& literal, const uint8_t* data, int64_t begin, int64_t end) const {
    const auto size = static_cast<int64_t>(literal.bytes.size());
    return size <= end - begin && std::memcmp(data + begin, literal.bytes.data(), literal.bytes.size()) == 0;
}

bool Markers::any_at(const uint8_t* data, int64_t line, int64_t at, int64_t end) const {
    const auto holds = [&](uint16_t which) {
        const Literal& literal = literals_[which];
        return at - literal.anchor >= line && matches(literal, data, at - literal.anchor, end);
    };
    if (end - at >= kWidth) {
        const auto& same = by_fragment_[hash_of(data + at)];
        if (std::any_of(same.begin(), same.end(), holds)) return true;
    }
    return std::any_of(short_.begin(), short_.end(), holds);
}

int64_t Markers::find(const uint8_t* data, int64_t line, int64_t at, int64_t end) const {
    if (!any_at(data, line, at, end)) return -1;
    // Another marker may begin before this one although its fragment comes after it.
    for (int64_t begin = std::max(line, at - largest_anchor_);; ++begin) {
        for (const uint16_t which : by_first_byte_[data[begin]]) {
            if (matches(literals_[which], data, begin, end)) return literals_[which].index;
        }
    }
}

void Rows::add(int64_t start, int64_t end, int64_t marker, int64_t line) {
    values_.insert(values_.end(), {start, end, marker, line});
}

}  // namespace autofuse
