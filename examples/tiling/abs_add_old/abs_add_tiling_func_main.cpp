#include <cstddef>
#include "autofuse_tiling_func_common.h"

extern "C" size_t GetTilingDataSize() {
  return sizeof(AutofuseTilingData);
}

extern "C" int64_t AutofuseTiling(uint32_t s2, uint32_t s3, AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t* blockDim, uint32_t aiv_num, uint32_t ub_size)
{
  tiling->set_s2(s2);
  tiling->set_s3(s3);
  tiling->set_block_dim(aiv_num);
  tiling->set_ub_size(ub_size - 256);
  if (!optiling::GetTiling(*tiling)) {
    return -1;
  }
  *blockDim = tiling->get_block_dim();
  *workspaceSize = 16 * 1024 * 1024;
  return 0;
}
