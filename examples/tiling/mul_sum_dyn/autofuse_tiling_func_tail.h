// The choice among the schedule results.
#ifndef AUTOFUSE_TILING_FUNC_TAIL_H
#define AUTOFUSE_TILING_FUNC_TAIL_H

#include "autofuse_tiling_func_api.h"

namespace optiling {
bool GetTiling(AutofuseTilingData &tiling_data, uint32_t s0, uint32_t s1, int32_t tiling_case_id);
}

#endif  // AUTOFUSE_TILING_FUNC_TAIL_H
