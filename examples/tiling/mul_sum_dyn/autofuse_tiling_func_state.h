// What one call of GetTiling carries from group to group.
#ifndef AUTOFUSE_TILING_FUNC_STATE_H
#define AUTOFUSE_TILING_FUNC_STATE_H

#include <cfloat>
#include <cstdint>

namespace optiling {
struct GroupResult {
  bool solved = false;
  double objective = DBL_MAX;
  uint32_t block_dim = 0;
};

struct ScheduleState {
  bool chosen = false;
  double best_perf = DBL_MAX;
  uint32_t tiling_key = 0;
  uint32_t block_dim = 0;
};
}  // namespace optiling

#endif  // AUTOFUSE_TILING_FUNC_STATE_H
