#include "autofuse_tiling_func_solver.h"
#include "autofuse_tiling_func_log.h"

namespace optiling {
namespace {
#define SOLVER_INPUT_FMT \
  "result_id: %u, group_id: %u, case_id: %u, sub_case_id: %ucore_num: %u, ub_size: %u, local_buffer_vars[0]: %u, pure_mc_vars[0]: %u"
#define SOLVER_INPUT(core_num)                                                                                       \
  input_.result_id, input_.group_id, input_.case_id, input_.sub_case_id, (core_num), input_.ub_size,                 \
      local_buffer_var_.value, multicore_var_.value
}  // namespace

AxesReorderSolver::AxesReorderSolver(const SolverInput &input, uint32_t upper_bound, uint32_t align) : input_(input) {
  local_buffer_var_.upper_bound = upper_bound;
  local_buffer_var_.align = align;
}

bool AxesReorderSolver::LocalBufferTiling() {
  local_buffer_var_.value = std::min(local_buffer_var_.align, local_buffer_var_.upper_bound);
  if (local_buffer_var_.value == 0 || GetUbSize() > static_cast<int64_t>(input_.ub_size)) {
    OP_LOGW("local buffer tiling failed in the initial check");
    return false;
  }
  uint32_t lower = local_buffer_var_.value;
  uint32_t upper = local_buffer_var_.upper_bound;
  while (lower < upper) {
    const uint32_t middle = lower + (upper - lower + 1) / 2;
    local_buffer_var_.value = middle;
    const bool satisfied = GetUbSize() <= static_cast<int64_t>(input_.ub_size);
    OP_LOGD("Binary search: left=%u, right=%u, mid=%u, satisfied=%d", lower, upper, middle, satisfied);
    lower = satisfied ? middle : lower;
    upper = satisfied ? upper : middle - 1;
  }
  local_buffer_var_.value = lower;
  ApplyPromptAlign();
  return true;
}

void AxesReorderSolver::ApplyPromptAlign() {
  const uint32_t value = local_buffer_var_.value;
  const uint32_t align = local_buffer_var_.align;
  if (value == local_buffer_var_.upper_bound || value % align == 0) {
    return;
  }
  local_buffer_var_.value = value / align * align;
  OP_LOGI("Update prompt align from %u to %u", value, local_buffer_var_.value);
}

bool AxesReorderSolver::MulticoreTiling(uint32_t core_num) {
  const uint32_t tiles = GetTileCount();
  multicore_var_.upper_bound = tiles;
  multicore_var_.value = std::max(1U, (tiles + core_num - 1) / core_num);
  return GetBlockDim() <= static_cast<int>(core_num);
}

bool AxesReorderSolver::GetTiling(uint32_t core_num) {
  if (!MulticoreTiling(core_num)) {
    OP_LOGW("multicore tiling failed, input: " SOLVER_INPUT_FMT, SOLVER_INPUT(core_num));
    return false;
  }
  OP_LOGI("multicore tiling success, input: " SOLVER_INPUT_FMT, SOLVER_INPUT(core_num));
  return true;
}

// Tries smaller tiles and fewer cores; the modelled cycles decide.
void AxesReorderSolver::AutoTuning() {
  OP_LOGI("Start auto tuning, is_trade_off:0, input:" SOLVER_INPUT_FMT, SOLVER_INPUT(input_.core_num));
  TilingVar best_tile = local_buffer_var_;
  TilingVar best_block = multicore_var_;
  double best_perf = GetPerf();
  const uint32_t largest = local_buffer_var_.value;
  for (uint32_t tile = largest; tile >= std::min(largest, local_buffer_var_.align); tile /= 2) {
    for (uint32_t core_num = input_.core_num; core_num > 0; core_num /= 2) {
      local_buffer_var_.value = tile;
      if (!GetTiling(core_num)) {
        continue;
      }
      const double perf = GetPerf();
      OP_LOGD("current_perf: %f, next_upper_perf: %f, current_dim %d, next_upper_block_dim %u", best_perf, perf,
              GetBlockDim(), core_num);
      if (perf < best_perf) {
        best_perf = perf;
        best_tile = local_buffer_var_;
        best_block = multicore_var_;
      }
    }
  }
  local_buffer_var_ = best_tile;
  multicore_var_ = best_block;
}

bool AxesReorderSolver::Run() {
  if (!LocalBufferTiling()) {
    OP_LOGW("local buffer tiling failed, is_tuning: 1, block_loop_auto_tune: 0,input: " SOLVER_INPUT_FMT,
            SOLVER_INPUT(input_.core_num));
    OP_LOGW("Get default tiling failed, is_trade_off:0, is_block_loop_tune:0, input: " SOLVER_INPUT_FMT,
            SOLVER_INPUT(input_.core_num));
    return false;
  }
  OP_LOGI("local buffer tiling success, input: " SOLVER_INPUT_FMT, SOLVER_INPUT(input_.core_num));
  if (!GetTiling(input_.core_num)) {
    return false;
  }
  AutoTuning();
  return true;
}
}  // namespace optiling
