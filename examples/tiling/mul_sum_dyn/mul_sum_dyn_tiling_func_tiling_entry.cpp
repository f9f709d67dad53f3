#include "autofuse_tiling_func_entry.h"

namespace {
constexpr uint32_t kSystemWorkspace = 16U * 1024U * 1024U;
}

extern "C" size_t GetTilingDataSize() {
  return sizeof(AutofuseTilingData);
}

extern "C" bool AutofuseIsStaticShape() {
  return false;
}

extern "C" uint32_t GetTilingKeyCount() {
  return 4U;
}

extern "C" uint32_t FindBestTilingKey(AutofuseTilingData &tiling_data) {
  if (tiling_data.get_graph0_tiling_key() == 1U) {
    return 3U;
  }
  return tiling_data.graph0_result0_g0_tiling_data.get_tiling_key();
}

extern "C" int64_t AutofuseTiling(uint32_t s0, uint32_t s1, AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t *blockDim, uint32_t aiv_num, uint32_t ub_size)
{
  tiling->set_block_dim(aiv_num);
  tiling->set_ub_size(ub_size);
  if (!optiling::GetTiling(*tiling, s0, s1, -1)) {
    return -1;
  }
  *blockDim = tiling->get_block_dim();
  *workspaceSize = tiling->get_workspace0() + kSystemWorkspace;
  return 0;
}
