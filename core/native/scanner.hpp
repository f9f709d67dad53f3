// A scanner: markers and a kernel, with the markers compiled for the text that comes.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels.hpp"

namespace autofuse {

class Scanner {
  public:
    Scanner(std::vector<std::string> markers, const Kernel& kernel);

    // Rows for data[start:end]; `start` begins line number `line`. May run in several threads at once.
    void scan(const uint8_t* data, int64_t start, int64_t end, int64_t line, Rows& rows) const;

    const Kernel& kernel() const { return kernel_; }

  private:
    const std::vector<std::string> markers_;
    const Kernel& kernel_;

    // Compiling costs what scanning a few hundred KiB does, so it is done when the text turns out to be unlike the
    // sample, and then not again before twice as many bytes were scanned. It never changes the rows.
    mutable std::mutex mutex_;
    mutable std::shared_ptr<const Markers> compiled_;
    mutable int64_t scanned_ = 0;
    mutable int64_t next_ = 0;

    std::shared_ptr<const Markers> compiled_for(const uint8_t* data, int64_t start, int64_t end) const;
    void learn(const uint8_t* data, int64_t start, int64_t end, int64_t misses) const;
};

}  // namespace autofuse
