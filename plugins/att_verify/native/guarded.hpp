// Memory for the outputs of the tiling code, with known bytes around it and a wide gap beyond them that cannot be touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runner {

// [no access][guard bytes][data][guard bytes][no access]
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  // False when there is no memory for it.
  bool Allocate(std::size_t size);
  void *Data() const { return data_; }
  std::size_t Size() const { return size_; }
  // Zeroes the data and renews the guard bytes.
  void Reset();
  bool GuardsIntact() const;
  bool IsZero() const;
  // Whether a fault at this address is one of the pages around the data.
  bool Owns(const void *address) const;

 private:
  std::uint8_t *base_ = nullptr;
  std::size_t mapped_ = 0;
  std::uint8_t *data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace runner
