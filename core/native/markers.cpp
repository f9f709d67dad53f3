#include "markers.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace autofuse {

namespace {

uint8_t byte_of(const std::string& text, size_t at) { return static_cast<uint8_t>(text[at]); }

// A fragment far into the marker would mean to look far behind each hit for a marker that begins before it.
constexpr size_t kLastAnchor = 24;

size_t anchors_of(const std::string& marker) {
    return marker.size() < kWidth ? 0 : std::min(marker.size() - kWidth, kLastAnchor) + 1;
}

// How often each byte occurs, as a share; none is zero.
std::vector<double> shares_of(const Sample& sample) {
    std::vector<double> shares(256, 1.0);
    for (const uint8_t byte : sample.bytes()) shares[byte] += 1.0;
    for (double& share : shares) share /= static_cast<double>(sample.bytes().size() + 256);
    return shares;
}

using Counts = std::unordered_map<std::string, int>;

// How often each fragment that a marker offers occurs in the sample.
Counts count_fragments(const std::vector<std::string>& markers, const Sample& sample) {
    Counts counts;
    std::vector<bool> begins(1 << 16);
    for (const std::string& marker : markers) {
        for (size_t at = 0; at < anchors_of(marker); ++at) {
            counts[marker.substr(at, kWidth)] = 0;
            begins[static_cast<size_t>(byte_of(marker, at) << 8 | byte_of(marker, at + 1))] = true;
        }
    }
    const std::vector<uint8_t>& bytes = sample.bytes();
    for (size_t at = 0; at + kWidth <= bytes.size(); ++at) {
        if (!begins[static_cast<size_t>(bytes[at] << 8 | bytes[at + 1])]) continue;
        const auto found = counts.find(std::string(reinterpret_cast<const char*>(&bytes[at]), kWidth));
        if (found != counts.end()) ++found->second;
    }
    return counts;
}

// The fragment that is met least, and of those the one of the rarest bytes.
int64_t best_anchor(const std::string& marker, const Counts& counts, const std::vector<double>& shares) {
    int64_t best = 0;
    int least = 0;
    double rarest = 0.0;
    for (size_t at = 0; at < anchors_of(marker); ++at) {
        const int count = counts.at(marker.substr(at, kWidth));
        double share = 1.0;
        for (size_t k = 0; k < kWidth; ++k) share *= shares[byte_of(marker, at + k)];
        if (at == 0 || count < least || (count == least && share < rarest)) {
            best = static_cast<int64_t>(at);
            least = count;
            rarest = share;
        }
    }
    return best;
}

// The nibble sets of one bucket.
struct Bucket {
    uint16_t low[kWidth] = {};
    uint16_t high[kWidth] = {};

    void add(const std::string& marker, int64_t anchor) {
        for (size_t k = 0; k < kWidth; ++k) {
            const size_t at = static_cast<size_t>(anchor) + k;
            const bool any = at >= marker.size();
            const uint8_t byte = any ? 0 : byte_of(marker, at);
            low[k] |= any ? 0xFFFF : static_cast<uint16_t>(1u << (byte & 15));
            high[k] |= any ? 0xFFFF : static_cast<uint16_t>(1u << (byte >> 4));
        }
    }

    // The share of places in the text that it makes candidates, if bytes were independent of their neighbours.
    double passes(const std::vector<double>& shares) const {
        double result = 1.0;
        for (int k = 0; k < kWidth; ++k) {
            double sum = 0.0;
            for (int byte = 0; byte < 256; ++byte) {
                if ((low[k] >> (byte & 15) & 1) && (high[k] >> (byte >> 4) & 1)) sum += shares[static_cast<size_t>(byte)];
            }
            result *= sum;
        }
        return result;
    }
};

}  // namespace

Sample::Sample(const uint8_t* data, int64_t start, int64_t end) {
    constexpr int64_t kPieces = 32;
    constexpr int64_t kPiece = 4096;
    const int64_t step = std::max(kPiece, (end - start) / kPieces);
    for (int64_t at = start; at < end; at += step) bytes_.insert(bytes_.end(), data + at, data + std::min(at + kPiece, end));
}

Markers::Markers(const std::vector<std::string>& markers, const Sample& sample) : literals_(1) {
    const std::vector<double> shares = shares_of(sample);
    const Counts counts = count_fragments(markers, sample);
    for (size_t index = 0; index < markers.size(); ++index) {
        const std::string& marker = markers[index];
        const auto same = [&](const Literal& other) { return other.bytes == marker; };
        if (std::any_of(literals_.begin(), literals_.end(), same)) continue;
        Literal literal{marker, static_cast<int64_t>(index), best_anchor(marker, counts, shares), 0, 0};
        uint32_t* chain = &short_;
        if (marker.size() >= kWidth) {
            literal.fragment = load(reinterpret_cast<const uint8_t*>(marker.data()) + literal.anchor);
            chain = &heads_[slot(literal.fragment)];
        }
        literal.next = *chain;
        *chain = static_cast<uint32_t>(literals_.size());
        reach_ = std::max(reach_, literal.anchor);
        literals_.push_back(literal);
    }
    fill_buckets(shares);
}

// Each literal goes where it lets the fewest other places pass. Those that let many pass by themselves come first, so that
// a marker of one byte gets a bucket for itself.
void Markers::fill_buckets(const std::vector<double>& shares) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t which = 1; which < literals_.size(); ++which) {
        Bucket alone;
        alone.add(literals_[which].bytes, literals_[which].anchor);
        order.emplace_back(-alone.passes(shares), which);
    }
    std::sort(order.begin(), order.end());
    Bucket buckets[kBuckets];
    double passes[kBuckets] = {};
    for (const auto& [ignored, which] : order) {
        const Literal& literal = literals_[which];
        int best = 0;
        double least = 2.0;
        for (int bucket = 0; bucket < kBuckets; ++bucket) {
            Bucket grown = buckets[bucket];
            grown.add(literal.bytes, literal.anchor);
            const double more = grown.passes(shares) - passes[bucket];
            if (more < least) {
                least = more;
                best = bucket;
            }
        }
        buckets[best].add(literal.bytes, literal.anchor);
        passes[best] = buckets[best].passes(shares);
    }
    for (int k = 0; k < kWidth; ++k) {
        for (int half = 0; half < 16; ++half) {
            low[k][half] = high[k][half] = 0;
            for (int bucket = 0; bucket < kBuckets; ++bucket) {
                low[k][half] |= static_cast<uint8_t>((buckets[bucket].low[k] >> half & 1) << bucket);
                high[k][half] |= static_cast<uint8_t>((buckets[bucket].high[k] >> half & 1) << bucket);
            }
        }
    }
}

}  // namespace autofuse
