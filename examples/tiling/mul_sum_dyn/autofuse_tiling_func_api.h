// One entry per schedule group.
#ifndef AUTOFUSE_TILING_FUNC_API_H
#define AUTOFUSE_TILING_FUNC_API_H

#include "autofuse_tiling_data.h"
#include "autofuse_tiling_func_base.h"
#include "autofuse_tiling_func_log.h"
#include "autofuse_tiling_func_solver.h"
#include "autofuse_tiling_func_state.h"

namespace optiling {
namespace AscGraph0ScheduleResult0G0 {
bool GetTiling(AscGraph0ScheduleResult0G0TilingData &tiling_data, int32_t tiling_case_id, GroupResult &result);
}
namespace AscGraph0ScheduleResult1G0 {
bool GetTiling(AscGraph0ScheduleResult1G0TilingData &tiling_data, int32_t tiling_case_id, GroupResult &result);
}
namespace AscGraph0ScheduleResult1G1 {
bool GetTiling(AscGraph0ScheduleResult1G1TilingData &tiling_data, int32_t tiling_case_id, GroupResult &result);
}
}  // namespace optiling

#endif  // AUTOFUSE_TILING_FUNC_API_H
