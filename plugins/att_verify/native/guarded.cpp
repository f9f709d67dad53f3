#include "guarded.hpp"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace runner {
namespace {

constexpr int kPattern = 0xA5;
// Nothing can be touched as far as this around the data: a stray index is told as an overrun, not as any crash.
constexpr std::size_t kGap = std::size_t{16} << 20;

std::size_t PageSize() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

bool AllEqual(const std::uint8_t *bytes, std::size_t count, std::uint8_t value) {
  // Comparing the range with itself, one byte on, lets memcmp do the work.
  return count == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, count - 1) == 0);
}

}  // namespace

GuardedBuffer::~GuardedBuffer() {
  if (base_ != nullptr) {
    munmap(base_, mapped_);
  }
}

bool GuardedBuffer::Allocate(std::size_t size) {
  const std::size_t page = PageSize();
  const std::size_t inside = (size + page - 1) / page * page + 2 * page;  // a page of guard bytes at least at each end
  mapped_ = inside + 2 * kGap;
  void *memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  base_ = static_cast<std::uint8_t *>(memory);
  if (mprotect(base_ + kGap, inside, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  data_ = base_ + kGap + page;
  size_ = size;
  tail_ = inside - page - size;
  return true;
}

void GuardedBuffer::Reset() {
  memset(data_ - PageSize(), kPattern, PageSize());
  memset(data_, 0, size_);
  memset(data_ + size_, kPattern, tail_);
}

bool GuardedBuffer::GuardsIntact() const {
  return AllEqual(data_ - PageSize(), PageSize(), kPattern) && AllEqual(data_ + size_, tail_, kPattern);
}

bool GuardedBuffer::IsZero() const { return AllEqual(data_, size_, 0); }

bool GuardedBuffer::Owns(const void *address) const {
  const auto *byte = static_cast<const std::uint8_t *>(address);
  return base_ != nullptr && byte >= base_ && byte < base_ + mapped_;
}

}  // namespace runner
