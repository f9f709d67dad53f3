#include <vector>
#include "autofuse_tiling_func_api.h"

namespace optiling {
namespace AscGraph0ScheduleResult1G0 {
using TilingData = AscGraph0ScheduleResult1G0TilingData;

// Every tile of every row is a piece of work of its own; partial sums go to the workspace.
class AxesReorderSolvercase0 : public AxesReorderSolver {
 public:
  AxesReorderSolvercase0(const SolverInput &input, const TilingData &tiling_data)
      : AxesReorderSolver(input, tiling_data.get_s1(), 64), s0_(tiling_data.get_s0()), s1_(tiling_data.get_s1()) {}
  int64_t GetUbSize() const override { return GetUbSizeStatic(local_buffer_var_.value); }
  int GetBlockDim() const override { return GetBlockDimStatic(s0_, s1_, multicore_var_.value, local_buffer_var_.value); }
  double GetPerf() const override {
    return GetPerfStatic(PipeType::ALL, GetBlockDim(), s0_, s1_, multicore_var_.value, local_buffer_var_.value);
  }
  static double GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0z1Tb_size, double z1t_size);
  static double GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data);
  static int64_t GetUbSizeStatic(double z1t_size);
  static int GetBlockDimStatic(double s0, double s1, double z0z1Tb_size, double z1t_size);

 protected:
  uint32_t GetTileCount() const override {
    return static_cast<uint32_t>(s0_ * Ceiling((static_cast<double>(s1_) / (local_buffer_var_.value))));
  }

 private:
  uint32_t s0_;
  uint32_t s1_;
};

int64_t AxesReorderSolvercase0::GetUbSizeStatic(double z1t_size) {
  auto q0_size = (64 * Ceiling((Rational(1 , 8) * z1t_size)));
  auto q1_size = 32;
  auto b0_size = Max(8192, (32 * Ceiling((Rational(1 , 8) * z1t_size))));
  int64_t ub_size = ((2 * q0_size) + (2 * q1_size) + b0_size);
  return ub_size;
}

int AxesReorderSolvercase0::GetBlockDimStatic(double s0, double s1, double z0z1Tb_size, double z1t_size) {
  auto block_num = Max(0, Ceiling((Ceiling((s1 / (z1t_size))) * s0 / (z0z1Tb_size))));
  return std::max(1, static_cast<int32_t>(block_num));
}

double AxesReorderSolvercase0::GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0z1Tb_size, double z1t_size) {
  double x_load_0_Load_AIV_MTE2_exe_time = (z0z1Tb_size);
  double x_load_0_Load_AIV_MTE2_common0 = (4 * z1t_size);
  bool x_load_0_Load_AIV_MTE2_cond0 = LogicOr((x_load_0_Load_AIV_MTE2_common0 < 25000), ExpectLe(block_dim, 4));
  double x_load_0_Load_AIV_MTE2_case0 = ((x_load_0_Load_AIV_MTE2_common0 / (7.2341)) + 27.01);
  double x_load_0_Load_AIV_MTE2_case1 = ((x_load_0_Load_AIV_MTE2_common0 / (9.9074)) + 172.2);
  double x_load_0_Load_AIV_MTE2_contrib = (TernaryOp(x_load_0_Load_AIV_MTE2_cond0, x_load_0_Load_AIV_MTE2_case0, x_load_0_Load_AIV_MTE2_case1) * x_load_0_Load_AIV_MTE2_exe_time);
  double y_load_1_Load_AIV_MTE2_contrib = (((4 * z1t_size / (9.9074)) + 12.09) * z0z1Tb_size);
  double mul_2_Mul_AIV_VEC_contrib = (((z1t_size * 0.0156) + 37.37) * z0z1Tb_size);
  double sum_3_Sum_AIV_VEC_contrib = (((Ceiling((Rational(1 , 64) * z1t_size)) * 1.0418) + 24.6) * z0z1Tb_size);
  double workspace_store_4_Store_AIV_MTE3_contrib = (((4 / (Min((3.2 * block_dim), 12.4))) + 18.4) * z0z1Tb_size);
  double AIV_MTE2 = (775.0 + x_load_0_Load_AIV_MTE2_contrib + y_load_1_Load_AIV_MTE2_contrib);
  double AIV_MTE3 = (497.36 + workspace_store_4_Store_AIV_MTE3_contrib);
  double AIV_VEC = (mul_2_Mul_AIV_VEC_contrib + sum_3_Sum_AIV_VEC_contrib);
  if (pipe_type == PipeType::AIV_MTE2) {
    return AIV_MTE2;
  }
  if (pipe_type == PipeType::AIV_MTE3) {
    return AIV_MTE3;
  }
  if (pipe_type == PipeType::AIV_VEC) {
    return AIV_VEC;
  }
  return ((300.0 * Max(0, Ceiling((Ceiling((s1 / (z1t_size))) * s0 / (z0z1Tb_size))))) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));
}

double AxesReorderSolvercase0::GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data) {
  double block_dim = static_cast<double>(tiling_data.get_block_dim());
  double s0 = static_cast<double>(tiling_data.get_s0());
  double s1 = static_cast<double>(tiling_data.get_s1());
  double z0z1Tb_size = static_cast<double>(tiling_data.get_z0z1Tb_size());
  double z1t_size = static_cast<double>(tiling_data.get_z1t_size());
  return GetPerfStatic(pipe_type, block_dim, s0, s1, z0z1Tb_size, z1t_size);
}

class TilingCaseImpl {
 public:
  virtual ~TilingCaseImpl() = default;
  bool GetTiling(TilingData &tiling_data, const SolverInput &input) {
    OP_LOGD("Execute DoTiling.");
    if (!DoTiling(tiling_data, input)) {
      OP_LOGW("Failed to do tiling.");
      return false;
    }
    TilingSummary(tiling_data);
    return true;
  }
  virtual bool DoTiling(TilingData &tiling_data, const SolverInput &input) = 0;
  virtual void TilingSummary(TilingData &tiling_data) = 0;
  virtual double GetPerf(TilingData &tiling_data) = 0;
};

class TilingCase0Impl : public TilingCaseImpl {
 public:
  bool DoTiling(TilingData &tiling_data, const SolverInput &input) override {
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult1G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGI("Set ub_size for tiling case 0 of AscGraph0ScheduleResult1G0 to ((128 * Ceiling((Rational(1 , 8) * z1t_size))) + 64 + Max(8192, (32 * Ceiling((Rational(1 , 8) * z1t_size)))))");
    OP_LOGI("Set block_dim for tiling case 0 of AscGraph0ScheduleResult1G0 to Max(0, Ceiling((Ceiling((s1 / (z1t_size))) * s0 / (z0z1Tb_size))))");
    OP_LOGI("Set hardware params. ub_size = %u. block_dim = %u.", input.ub_size, input.core_num);
    AxesReorderSolvercase0 solver(input, tiling_data);
    if (!solver.Run()) {
      OP_LOGW("Failed to execute axes reorder solver for tilingCaseId case0.");
      return false;
    }
    OP_LOGD("Execute axes reorder solver for tilingCaseId case0 successfully.");
    tiling_data.set_z1t_size(solver.GetTile());
    tiling_data.set_z0z1Tb_size(solver.GetTilesPerBlock());
    tiling_data.set_block_dim(static_cast<uint32_t>(solver.GetBlockDim()));
    tiling_data.set_q0_size(static_cast<uint32_t>((64 * Ceiling((Rational(1 , 8) * tiling_data.get_z1t_size())))));
    tiling_data.set_q1_size(32);
    tiling_data.set_b0_size(static_cast<uint32_t>(Max(8192, (32 * Ceiling((Rational(1 , 8) * tiling_data.get_z1t_size()))))));
    tiling_data.set_tiling_key(0);
    return true;
  }
  void TilingSummary(TilingData &tiling_data) override {
    OP_LOGI("[PROF]The value of z0z1Tb_size is %u in graph0_result1_g0_0.", tiling_data.get_z0z1Tb_size());
    OP_LOGI("[PROF]The value of z1t_size is %u in graph0_result1_g0_0.", tiling_data.get_z1t_size());
    OP_LOGI("[PROF]The value of ub_size is %ld in graph0_result1_g0_0.", static_cast<long>(AxesReorderSolvercase0::GetUbSizeStatic(tiling_data.get_z1t_size())));
    OP_LOGI("[PROF]The value of block_dim is %u in graph0_result1_g0_0.", tiling_data.get_block_dim());
    OP_LOGI("[PROF]The value of b0_size is %u in graph0_result1_g0_0.", tiling_data.get_b0_size());
    OP_LOGI("[PROF]The value of q0_size is %u in graph0_result1_g0_0.", tiling_data.get_q0_size());
    OP_LOGI("[PROF]The value of q1_size is %u in graph0_result1_g0_0.", tiling_data.get_q1_size());
    OP_LOGI("[PROF]The value of AIV_MTE2 is %f in graph0_result1_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_MTE2, tiling_data));
    OP_LOGI("[PROF]The value of AIV_MTE3 is %f in graph0_result1_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_MTE3, tiling_data));
    OP_LOGI("[PROF]The value of AIV_VEC is %f in graph0_result1_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_VEC, tiling_data));
    OP_LOGI("[PROF]The objective value of the tiling data is %f in graph0_result1_g0_0.", GetPerf(tiling_data));
  }
  double GetPerf(TilingData &tiling_data) override {
    return AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::ALL, tiling_data);
  }
};

namespace {
struct Best {
  const char *tiling_case = "";
  double objective = DBL_MAX;
  TilingData tiling_data = {};
};

void UpdateBetterTiling(const char *tiling_case, double objective, const TilingData &tiling_data, Best &best) {
  OP_LOGD("The solution for tiling_case_id %s is better, updating the tiling data.", tiling_case);
  OP_LOGD("Set the output tiling data.");
  best.tiling_case = tiling_case;
  best.objective = objective;
  best.tiling_data = tiling_data;
  OP_LOGD("Updated the best tiling_case_id to %s.", tiling_case);
}

void FindPerfBetterTilingbyCaseId(const char *tiling_case, TilingCaseImpl &impl, const SolverInput &input,
                                  const TilingData &tiling_data, Best &best) {
  OP_LOGD("Calculating the tiling data for tiling_case_id %s of score[0]", tiling_case);
  TilingData candidate = tiling_data;
  if (impl.GetTiling(candidate, input)) {
    const double objective = impl.GetPerf(candidate);
    OP_LOGD("The optimal objection for tiling_case_id %s of AscGraph0ScheduleResult1G0 is %f.", tiling_case, objective);
    if (objective < best.objective) {
      UpdateBetterTiling(tiling_case, objective, candidate, best);
    }
  }
  OP_LOGD("Finish calculating the tiling data for tiling_case_id %s", tiling_case);
}

void ShowBestSoFar(const Best &best) {
  if (best.objective < DBL_MAX) {
    OP_LOGI("[PROF]The score_map[0] has been processed, tiling case %s of graph0_result1_g0 is the best choice.", best.tiling_case);
  }
}

bool GetTilingKey(TilingData &tiling_data, int32_t tiling_case_id, Best &best) {
  SolverInput input;
  input.result_id = 1;
  input.core_num = tiling_data.get_block_dim();
  input.ub_size = tiling_data.get_ub_size();
  if (tiling_case_id < 0) {
    OP_LOGI("The user didn't specify tiling_case_id, iterate all templates.");
  }
  TilingCase0Impl case0;
  OP_LOGI("tiling case0 of asc_graph0_schedule_result1_g0 score is 0");
  FindPerfBetterTilingbyCaseId("0", case0, input, tiling_data, best);
  ShowBestSoFar(best);
  if (best.objective >= DBL_MAX) {
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult1G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGW("Failed to execute tiling func.");
    return false;
  }
  OP_LOGI("[PROF]Among the templates, tiling case %s of graph0_result1_g0 is the best choice.", best.tiling_case);
  return true;
}
}  // namespace

bool GetTiling(TilingData &tiling_data, int32_t tiling_case_id, GroupResult &result) {
  OP_LOGI("Start tiling for sched group AscGraph0ScheduleResult1G0.");
  Best best;
  result.solved = GetTilingKey(tiling_data, tiling_case_id, best);
  if (result.solved) {
    tiling_data = best.tiling_data;
    result.objective = best.objective;
    result.block_dim = tiling_data.get_block_dim();
  } else {
    OP_LOGW("GetTiling Failed.");
  }
  OP_LOGI("End tiling for sched group.");
  return result.solved;
}
}  // namespace AscGraph0ScheduleResult1G0
}  // namespace optiling
