// Stand-in for the tiling structs of the Ascend C library: integer types, and only structs whose size is known.
#ifndef AUTOFUSE_SHIM_KERNEL_TILING_H
#define AUTOFUSE_SHIM_KERNEL_TILING_H

#include <stddef.h>
#include <stdint.h>

namespace AscendC {
namespace tiling {
// 18 words; what they mean is the library's business.
struct ConfusionTransposeTiling {
  uint32_t param0;
  uint32_t param1;
  uint32_t param2;
  uint32_t param3;
  uint32_t param4;
  uint32_t param5;
  uint32_t param6;
  uint32_t param7;
  uint32_t param8;
  uint32_t param9;
  uint32_t param10;
  uint32_t param11;
  uint32_t param12;
  uint32_t param13;
  uint32_t param14;
  uint32_t param15;
  uint32_t param16;
  uint32_t param17;
};
}  // namespace tiling
}  // namespace AscendC

using AscendC::tiling::ConfusionTransposeTiling;

#endif  // AUTOFUSE_SHIM_KERNEL_TILING_H
