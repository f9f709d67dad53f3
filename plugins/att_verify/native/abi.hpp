// The three calling conventions of AutofuseTiling, for 0 to 32 shape symbols.
//
// The calls are ordinary C++ calls through function pointer types made at compile time, so the compiler of each machine
// (x86-64, aarch64) places registers and stack slots itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace runner {

constexpr std::size_t kMaxDims = 32;

enum class AbiKind { kTf, kInductor };

// The limits that an inductor call may pass; a null pointer means the code's own default.
struct ResLimit {
  std::uint32_t valid_num;
  std::uint32_t aiv_num;
  std::uint32_t aic_num;
  std::uint32_t ub_size;
  std::uint32_t resv[10];
};
static_assert(sizeof(ResLimit) == 56, "the generated code expects 56 bytes");

struct TilingCall {
  const std::uint32_t *dims = nullptr;
  void *tiling_data = nullptr;
  std::uint32_t *workspace_size = nullptr;
  std::uint32_t *block_dim = nullptr;
  std::uint32_t aiv_num = 0;
  std::uint32_t ub_size = 0;
  ResLimit *limit = nullptr;
};

namespace detail {

template <std::size_t>
using Dim = std::uint32_t;

template <std::size_t... I>
std::int64_t CallTf(void *function, const TilingCall &call, std::index_sequence<I...>) {
  using Function = std::int64_t (*)(Dim<I>..., void *, std::uint32_t *, std::uint32_t *, std::uint32_t, std::uint32_t);
  return reinterpret_cast<Function>(function)(call.dims[I]..., call.tiling_data, call.workspace_size, call.block_dim,
                                              call.aiv_num, call.ub_size);
}

template <std::size_t... I>
std::int64_t CallInductor(void *function, const TilingCall &call, std::index_sequence<I...>) {
  using Function = std::int64_t (*)(Dim<I>..., void *, std::uint32_t *, std::uint32_t *, ResLimit *);
  return reinterpret_cast<Function>(function)(call.dims[I]..., call.tiling_data, call.workspace_size, call.block_dim,
                                              call.limit);
}

template <AbiKind kKind, std::size_t kDims>
std::int64_t CallWith(void *function, const TilingCall &call) {
  if constexpr (kKind == AbiKind::kTf) {
    return CallTf(function, call, std::make_index_sequence<kDims>());
  } else {
    return CallInductor(function, call, std::make_index_sequence<kDims>());
  }
}

using Caller = std::int64_t (*)(void *, const TilingCall &);

template <AbiKind kKind, std::size_t... N>
constexpr std::array<Caller, sizeof...(N)> MakeCallers(std::index_sequence<N...>) {
  return {&CallWith<kKind, N>...};
}

template <AbiKind kKind>
constexpr auto kCallers = MakeCallers<kKind>(std::make_index_sequence<kMaxDims + 1>());

}  // namespace detail

// Calls `function` with `dims` shape symbols (at most kMaxDims).
inline std::int64_t CallTiling(AbiKind kind, std::size_t dims, void *function, const TilingCall &call) {
  const auto &callers = kind == AbiKind::kTf ? detail::kCallers<AbiKind::kTf> : detail::kCallers<AbiKind::kInductor>;
  return callers.at(dims)(function, call);
}

}  // namespace runner
