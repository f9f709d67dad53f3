#include "scanner.hpp"

#include <algorithm>
#include <utility>

namespace autofuse {

namespace {

// A candidate that is no marker costs about as much as this many bytes do.
constexpr int64_t kBytesPerMiss = 32;
// Bytes before the first new choice; smaller inputs are scanned in no time either way.
constexpr int64_t kFirst = 256 << 10;

}  // namespace

Scanner::Scanner(std::vector<std::string> markers, const Kernel& kernel)
    : markers_(std::move(markers)), kernel_(kernel) {}

void Scanner::scan(const uint8_t* data, int64_t start, int64_t end, int64_t line, Rows& rows) const {
    const std::shared_ptr<const Markers> markers = compiled_for(data, start, end);
    const int64_t misses = kernel_.scan(*markers, data, start, end, line, rows);
    learn(data, start, end, misses);
}

std::shared_ptr<const Markers> Scanner::compiled_for(const uint8_t* data, int64_t start, int64_t end) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!compiled_) compiled_ = std::make_shared<const Markers>(markers_, Sample(data, start, end));
    return compiled_;
}

void Scanner::learn(const uint8_t* data, int64_t start, int64_t end, int64_t misses) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    scanned_ += end - start;
    // Misses that cost less than an eighth of the scan are not worth it.
    if (misses * kBytesPerMiss * 8 < end - start || end - start < kFirst || scanned_ < next_) return;
    compiled_ = std::make_shared<const Markers>(markers_, Sample(data, start, end));
    next_ = 2 * std::max(scanned_, kFirst);
}

}  // namespace autofuse
