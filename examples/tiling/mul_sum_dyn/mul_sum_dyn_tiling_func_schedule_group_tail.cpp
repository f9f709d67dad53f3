#include "autofuse_tiling_func_tail.h"

namespace optiling {
namespace {
bool GetResultSummary(const ScheduleState &state) {
  if (!state.chosen) {
    OP_LOGE("No schedule result of graph0 can be tiled.");
    return false;
  }
  OP_LOGI("[PROF]Among all schedule results, graph0_result%u is the best choice.", state.tiling_key);
  return true;
}

void UpdateBest(uint32_t tiling_key, double perf, uint32_t block_dim, ScheduleState &state) {
  if (state.chosen && perf >= state.best_perf) {
    return;
  }
  state.chosen = true;
  state.best_perf = perf;
  state.tiling_key = tiling_key;
  state.block_dim = block_dim;
  OP_LOGI("Update best perf to %lf, tiling key = %u, block dim = %u", perf, tiling_key, block_dim);
}

template <typename GroupTilingData>
void SetInput(const AutofuseTilingData &tiling_data, GroupTilingData &group) {
  group.set_block_dim(tiling_data.get_block_dim());
  group.set_ub_size(tiling_data.get_ub_size());
}

void GetScheduleResult0(AutofuseTilingData &tiling_data, uint32_t s0, uint32_t s1, int32_t tiling_case_id, ScheduleState &state) {
  auto &group = tiling_data.graph0_result0_g0_tiling_data;
  SetInput(tiling_data, group);
  group.set_s0(s0);
  group.set_s1(s1);
  GroupResult g0;
  if (!AscGraph0ScheduleResult0G0::GetTiling(group, tiling_case_id, g0)) {
    return;
  }
  OP_LOGI("The value of graph0_result0 is %lf", g0.objective);
  UpdateBest(0U, g0.objective, g0.block_dim, state);
}

void GetScheduleResult1(AutofuseTilingData &tiling_data, uint32_t s0, uint32_t s1, int32_t tiling_case_id, ScheduleState &state) {
  auto &group0 = tiling_data.graph0_result1_g0_tiling_data;
  SetInput(tiling_data, group0);
  group0.set_s0(s0);
  group0.set_s1(s1);
  GroupResult g0;
  if (!AscGraph0ScheduleResult1G0::GetTiling(group0, tiling_case_id, g0)) {
    return;
  }
  auto &group1 = tiling_data.graph0_result1_g1_tiling_data;
  SetInput(tiling_data, group1);
  const uint32_t partial_sums = (s1 + group0.get_z1t_size() - 1U) / group0.get_z1t_size();
  group1.set_A_org_size(s0);
  group1.set_Rm_org_size(partial_sums);
  GroupResult g1;
  if (!AscGraph0ScheduleResult1G1::GetTiling(group1, tiling_case_id, g1)) {
    return;
  }
  const double group_sum = g0.objective + g1.objective;
  const double edge_model = 0.25 * partial_sums;
  OP_LOGI("The value of graph0_result1 is %lf objective(group_sum(g0+g1)=%lf + edge_model(workspace)=%lf)",
          group_sum + edge_model, group_sum, edge_model);
  UpdateBest(1U, group_sum + edge_model, std::max(g0.block_dim, g1.block_dim), state);
}
}  // namespace

bool GetTiling(AutofuseTilingData &tiling_data, uint32_t s0, uint32_t s1, int32_t tiling_case_id) {
  OP_LOGI("Start GetTiling.");
  ScheduleState state;
  GetScheduleResult0(tiling_data, s0, s1, tiling_case_id, state);
  GetScheduleResult1(tiling_data, s0, s1, tiling_case_id, state);
  const bool chosen = GetResultSummary(state);
  if (chosen) {
    tiling_data.set_graph0_tiling_key(state.tiling_key);
    tiling_data.set_block_dim(state.block_dim);
    const auto &group1 = tiling_data.graph0_result1_g1_tiling_data;
    tiling_data.set_workspace0(state.tiling_key == 1U ? 4U * group1.get_A_org_size() * group1.get_Rm_org_size() : 0U);
  }
  OP_LOGI("End GetTiling.");
  return chosen;
}
}  // namespace optiling
