// Stand-in for the tiling structs of the Ascend C library: integer types, and only structs whose size is known.
#ifndef AUTOFUSE_SHIM_KERNEL_TILING_H
#define AUTOFUSE_SHIM_KERNEL_TILING_H

#include <stddef.h>
#include <stdint.h>

#pragma pack(push, 8)
namespace AscendC {
namespace tiling {
// 18 words that begin as zeros; what they mean is the library's business.
struct ConfusionTransposeTiling {
  uint32_t param0 = 0;
  uint32_t param1 = 0;
  uint32_t param2 = 0;
  uint32_t param3 = 0;
  uint32_t param4 = 0;
  uint32_t param5 = 0;
  uint32_t param6 = 0;
  uint32_t param7 = 0;
  uint32_t param8 = 0;
  uint32_t param9 = 0;
  uint32_t param10 = 0;
  uint32_t param11 = 0;
  uint32_t param12 = 0;
  uint32_t param13 = 0;
  uint32_t param14 = 0;
  uint32_t param15 = 0;
  uint32_t param16 = 0;
  uint32_t param17 = 0;
};
}  // namespace tiling
}  // namespace AscendC
#pragma pack(pop)

using AscendC::tiling::ConfusionTransposeTiling;

#endif  // AUTOFUSE_SHIM_KERNEL_TILING_H
