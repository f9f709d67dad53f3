// The C interface that the framework calls.
#ifndef AUTOFUSE_TILING_FUNC_ENTRY_H
#define AUTOFUSE_TILING_FUNC_ENTRY_H

#include <cstddef>
#include "autofuse_tiling_func_tail.h"

extern "C" size_t GetTilingDataSize();
extern "C" bool AutofuseIsStaticShape();
extern "C" uint32_t GetTilingKeyCount();
extern "C" uint32_t FindBestTilingKey(AutofuseTilingData &tiling_data);
extern "C" int64_t AutofuseTiling(uint32_t s0, uint32_t s1, AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t *blockDim, uint32_t aiv_num, uint32_t ub_size);

#endif  // AUTOFUSE_TILING_FUNC_ENTRY_H
