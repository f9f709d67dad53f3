#include <vector>
#include "autofuse_tiling_func_api.h"

namespace optiling {
namespace AscGraph0ScheduleResult0G0 {
using TilingData = AscGraph0ScheduleResult0G0TilingData;

// Rows z0 are tiled, a row stays whole.
class AxesReorderSolvercase0 : public AxesReorderSolver {
 public:
  AxesReorderSolvercase0(const SolverInput &input, const TilingData &tiling_data)
      : AxesReorderSolver(input, tiling_data.get_s0(), 1), s0_(tiling_data.get_s0()), s1_(tiling_data.get_s1()) {}
  int64_t GetUbSize() const override { return GetUbSizeStatic(s1_, local_buffer_var_.value); }
  int GetBlockDim() const override { return GetBlockDimStatic(s0_, multicore_var_.value, local_buffer_var_.value); }
  double GetPerf() const override {
    return GetPerfStatic(PipeType::ALL, GetBlockDim(), s0_, s1_, multicore_var_.value, local_buffer_var_.value);
  }
  static double GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0Tb_size, double z0t_size);
  static double GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data);
  static int64_t GetUbSizeStatic(double s1, double z0t_size);
  static int GetBlockDimStatic(double s0, double z0Tb_size, double z0t_size);

 protected:
  uint32_t GetTileCount() const override {
    return static_cast<uint32_t>(Ceiling((static_cast<double>(s0_) / (local_buffer_var_.value))));
  }

 private:
  uint32_t s0_;
  uint32_t s1_;
};

int64_t AxesReorderSolvercase0::GetUbSizeStatic(double s1, double z0t_size) {
  auto q0_size = (64 * Ceiling((Rational(1 , 8) * s1 * z0t_size)));
  auto q1_size = (32 * Ceiling((Rational(1 , 8) * z0t_size)));
  auto b0_size = Max(8192, (32 * Ceiling((Rational(1 , 8) * s1 * z0t_size))));
  int64_t ub_size = ((2 * q0_size) + (2 * q1_size) + b0_size);
  return ub_size;
}

int AxesReorderSolvercase0::GetBlockDimStatic(double s0, double z0Tb_size, double z0t_size) {
  auto block_num = Max(0, Ceiling((Ceiling((s0 / (z0t_size))) / (z0Tb_size))));
  return std::max(1, static_cast<int32_t>(block_num));
}

double AxesReorderSolvercase0::GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0Tb_size, double z0t_size) {
  double x_load_0_Load_AIV_MTE2_exe_time = (z0Tb_size);
  double x_load_0_Load_AIV_MTE2_common0 = (4 * s1 * z0t_size);
  bool x_load_0_Load_AIV_MTE2_cond0 = (x_load_0_Load_AIV_MTE2_common0 < 25000);
  double x_load_0_Load_AIV_MTE2_case0 = ((x_load_0_Load_AIV_MTE2_common0 * (1 + (Rational(1 , 4) * block_dim / 48)) / (7.2341)) + 27.01);
  double x_load_0_Load_AIV_MTE2_case1 = ((x_load_0_Load_AIV_MTE2_common0 / (9.9074)) + 172.2);
  double x_load_0_Load_AIV_MTE2_branch4 = TernaryOp(x_load_0_Load_AIV_MTE2_cond0, x_load_0_Load_AIV_MTE2_case0, x_load_0_Load_AIV_MTE2_case1);
  double x_load_0_Load_AIV_MTE2_contrib = (x_load_0_Load_AIV_MTE2_branch4 * x_load_0_Load_AIV_MTE2_exe_time);
  double y_load_1_Load_AIV_MTE2_exe_time = (z0Tb_size);
  bool y_load_1_Load_AIV_MTE2_cond0 = ExpectEq(Mod(s1, 8), 0);
  double y_load_1_Load_AIV_MTE2_contrib_case0 = ((4 * s1 * z0t_size / (9.9074)) + 12.09);
  double y_load_1_Load_AIV_MTE2_contrib_case1 = ((32 * Ceiling((Rational(1 , 8) * s1)) * z0t_size / (6.3182)) + (0.4 * z0t_size) + 12.09);
  double y_load_1_Load_AIV_MTE2_contrib = (TernaryOp(y_load_1_Load_AIV_MTE2_cond0, y_load_1_Load_AIV_MTE2_contrib_case0, y_load_1_Load_AIV_MTE2_contrib_case1) * y_load_1_Load_AIV_MTE2_exe_time);
  double mul_2_Mul_AIV_VEC_exe_time = (z0Tb_size);
  double mul_2_Mul_AIV_VEC_contrib = (((s1 * z0t_size * 0.0156) + 37.37) * mul_2_Mul_AIV_VEC_exe_time);
  double sum_3_Sum_AIV_VEC_exe_time = (z0Tb_size);
  bool sum_3_Sum_AIV_VEC_cond0 = LogicAnd(ExpectLt(s1, 64), (s0 > 1));
  double sum_3_Sum_AIV_VEC_branch4 = TernaryOp(sum_3_Sum_AIV_VEC_cond0, ((z0t_size * 1.7) + 21.5), ((Ceiling((Rational(1 , 64) * s1)) * z0t_size * 1.0418) + (Log(Max(1, s1)) * 6.5)));
  double sum_3_Sum_AIV_VEC_contrib = (sum_3_Sum_AIV_VEC_branch4 * sum_3_Sum_AIV_VEC_exe_time);
  double out_store_4_Store_AIV_MTE3_exe_time = (z0Tb_size);
  double out_store_4_Store_AIV_MTE3_contrib = (((4 * z0t_size / (Min((3.2 * block_dim), 12.4))) + 12.09) * out_store_4_Store_AIV_MTE3_exe_time);
  double AIV_MTE2 = (775.0 + x_load_0_Load_AIV_MTE2_contrib + y_load_1_Load_AIV_MTE2_contrib);
  double AIV_MTE3 = (497.36 + out_store_4_Store_AIV_MTE3_contrib);
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
  return ((300.0 * Max(0, Ceiling((Ceiling((s0 / (z0t_size))) / (z0Tb_size))))) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));
}

double AxesReorderSolvercase0::GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data) {
  double block_dim = static_cast<double>(tiling_data.get_block_dim());
  double s0 = static_cast<double>(tiling_data.get_s0());
  double s1 = static_cast<double>(tiling_data.get_s1());
  double z0Tb_size = static_cast<double>(tiling_data.get_z0Tb_size());
  double z0t_size = static_cast<double>(tiling_data.get_z0t_size());
  return GetPerfStatic(pipe_type, block_dim, s0, s1, z0Tb_size, z0t_size);
}

// Columns z1 are tiled, one row at a time: what rows that do not fit the buffer need.
class AxesReorderSolvercaseR0 : public AxesReorderSolver {
 public:
  AxesReorderSolvercaseR0(const SolverInput &input, const TilingData &tiling_data)
      : AxesReorderSolver(input, tiling_data.get_s1(), 8), s0_(tiling_data.get_s0()), s1_(tiling_data.get_s1()) {}
  int64_t GetUbSize() const override { return GetUbSizeStatic(local_buffer_var_.value); }
  int GetBlockDim() const override { return GetBlockDimStatic(s0_, multicore_var_.value); }
  double GetPerf() const override {
    return GetPerfStatic(PipeType::ALL, GetBlockDim(), s0_, s1_, multicore_var_.value, local_buffer_var_.value);
  }
  static double GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0Tb_size, double z1t_size);
  static double GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data);
  static int64_t GetUbSizeStatic(double z1t_size);
  static int GetBlockDimStatic(double s0, double z0Tb_size);

 protected:
  uint32_t GetTileCount() const override { return s0_; }

 private:
  uint32_t s0_;
  uint32_t s1_;
};

int64_t AxesReorderSolvercaseR0::GetUbSizeStatic(double z1t_size) {
  auto q0_size = (64 * Ceiling((Rational(1 , 8) * z1t_size)));
  auto q1_size = 32;
  auto b0_size = Max(8192, (32 * Ceiling((Rational(1 , 8) * z1t_size))));
  int64_t ub_size = ((2 * q0_size) + (2 * q1_size) + b0_size);
  return ub_size;
}

int AxesReorderSolvercaseR0::GetBlockDimStatic(double s0, double z0Tb_size) {
  auto block_num = Max(0, Ceiling((s0 / (z0Tb_size))));
  return std::max(1, static_cast<int32_t>(block_num));
}

double AxesReorderSolvercaseR0::GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0Tb_size, double z1t_size) {
  double z1t_size_loop = Ceiling((s1 / (z1t_size)));
  double z1t_size_tail = (s1 - ((z1t_size_loop - 1) * z1t_size));
  double x_load_0_Load_AIV_MTE2_exe_time = (z0Tb_size * (z1t_size_loop - 1));
  double x_load_0_Load_AIV_MTE2_core_contrib = (((4 * z1t_size / (9.9074)) + 27.01) * x_load_0_Load_AIV_MTE2_exe_time);
  double x_load_0_Load_AIV_MTE2_tail_contrib = (((4 * z1t_size_tail / (7.2341)) + 27.01) * z0Tb_size);
  double y_load_1_Load_AIV_MTE2_core_contrib = (((4 * z1t_size / (9.9074)) + 12.09) * x_load_0_Load_AIV_MTE2_exe_time);
  double y_load_1_Load_AIV_MTE2_tail_contrib = (((4 * z1t_size_tail / (7.2341)) + 12.09) * z0Tb_size);
  double mul_2_Mul_AIV_VEC_core_contrib = (((z1t_size * 0.0156) + 37.37) * z0Tb_size * (z1t_size_loop - 1));
  double mul_2_Mul_AIV_VEC_tail_contrib = (((z1t_size_tail * 0.0156) + 37.37) * z0Tb_size);
  bool sum_3_Sum_AIV_VEC_cond0 = ((z1t_size_loop > 1) && !IsEqual(z1t_size_tail, 0));
  double sum_3_Sum_AIV_VEC_case0 = ((Ceiling((Rational(1 , 64) * z1t_size)) * 1.0418 * z1t_size_loop) + 24.6);
  double sum_3_Sum_AIV_VEC_case1 = ((Ceiling((Rational(1 , 64) * s1)) * 1.0418) + 6.5);
  double sum_3_Sum_AIV_VEC_contrib = (TernaryOp(sum_3_Sum_AIV_VEC_cond0, sum_3_Sum_AIV_VEC_case0, sum_3_Sum_AIV_VEC_case1) * z0Tb_size);
  double out_store_4_Store_AIV_MTE3_contrib = (((4 / (Min((3.2 * block_dim), 12.4))) + 12.09) * z0Tb_size);
  double AIV_MTE2 = (775.0 + x_load_0_Load_AIV_MTE2_core_contrib + x_load_0_Load_AIV_MTE2_tail_contrib + y_load_1_Load_AIV_MTE2_core_contrib + y_load_1_Load_AIV_MTE2_tail_contrib);
  double AIV_MTE3 = (497.36 + out_store_4_Store_AIV_MTE3_contrib);
  double AIV_VEC = (mul_2_Mul_AIV_VEC_core_contrib + mul_2_Mul_AIV_VEC_tail_contrib + sum_3_Sum_AIV_VEC_contrib);
  if (pipe_type == PipeType::AIV_MTE2) {
    return AIV_MTE2;
  }
  if (pipe_type == PipeType::AIV_MTE3) {
    return AIV_MTE3;
  }
  if (pipe_type == PipeType::AIV_VEC) {
    return AIV_VEC;
  }
  return ((300.0 * Max(0, Ceiling((s0 / (z0Tb_size))))) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));
}

double AxesReorderSolvercaseR0::GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data) {
  double block_dim = static_cast<double>(tiling_data.get_block_dim());
  double s0 = static_cast<double>(tiling_data.get_s0());
  double s1 = static_cast<double>(tiling_data.get_s1());
  double z0Tb_size = static_cast<double>(tiling_data.get_z0Tb_size());
  double z1t_size = static_cast<double>(tiling_data.get_z1t_size());
  return GetPerfStatic(pipe_type, block_dim, s0, s1, z0Tb_size, z1t_size);
}

// Rows padded to whole blocks of 32 bytes, so that the vector unit never sees a ragged row.
class AxesReorderSolvercase1 : public AxesReorderSolver {
 public:
  AxesReorderSolvercase1(const SolverInput &input, const TilingData &tiling_data)
      : AxesReorderSolver(input, tiling_data.get_s0(), 1), s0_(tiling_data.get_s0()), s1_(tiling_data.get_s1()) {}
  int64_t GetUbSize() const override { return GetUbSizeStatic(s1_, local_buffer_var_.value); }
  int GetBlockDim() const override { return GetBlockDimStatic(s0_, multicore_var_.value, local_buffer_var_.value); }
  double GetPerf() const override {
    return GetPerfStatic(PipeType::ALL, GetBlockDim(), s0_, s1_, multicore_var_.value, local_buffer_var_.value);
  }
  static double GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0Tb_size, double z0t_size);
  static double GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data);
  static int64_t GetUbSizeStatic(double s1, double z0t_size);
  static int GetBlockDimStatic(double s0, double z0Tb_size, double z0t_size);

 protected:
  uint32_t GetTileCount() const override {
    return static_cast<uint32_t>(Ceiling((static_cast<double>(s0_) / (local_buffer_var_.value))));
  }

 private:
  uint32_t s0_;
  uint32_t s1_;
};

int64_t AxesReorderSolvercase1::GetUbSizeStatic(double s1, double z0t_size) {
  auto q0_size = (64 * Ceiling((Rational(1 , 8) * s1)) * z0t_size);
  auto q1_size = (32 * Ceiling((Rational(1 , 8) * z0t_size)));
  auto b0_size = Max(16384, (64 * Ceiling((Rational(1 , 8) * s1)) * z0t_size));
  int64_t ub_size = ((2 * q0_size) + (2 * q1_size) + b0_size);
  return ub_size;
}

int AxesReorderSolvercase1::GetBlockDimStatic(double s0, double z0Tb_size, double z0t_size) {
  auto block_num = Max(0, Ceiling((Ceiling((s0 / (z0t_size))) / (z0Tb_size))));
  return std::max(1, static_cast<int32_t>(block_num));
}

double AxesReorderSolvercase1::GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0Tb_size, double z0t_size) {
  double x_load_0_Load_AIV_MTE2_exe_time = (z0Tb_size);
  double x_load_0_Load_AIV_MTE2_common0 = (32 * Ceiling((Rational(1 , 8) * s1)) * z0t_size);
  double x_load_0_Load_AIV_MTE2_contrib = (((x_load_0_Load_AIV_MTE2_common0 / (8.4125)) + (0.0714 * z0t_size * block_dim) + 27.01) * x_load_0_Load_AIV_MTE2_exe_time);
  double y_load_1_Load_AIV_MTE2_exe_time = (z0Tb_size);
  double y_load_1_Load_AIV_MTE2_contrib = (((x_load_0_Load_AIV_MTE2_common0 / (8.4125)) + 12.09) * y_load_1_Load_AIV_MTE2_exe_time);
  double mul_2_Mul_AIV_VEC_contrib = (((Ceiling((Rational(1 , 64) * s1 * z0t_size)) * 0.8125) + 37.37) * z0Tb_size);
  double sum_3_Sum_AIV_VEC_contrib = (((Ceiling((Rational(1 , 64) * s1)) * z0t_size * 0.7813) + (Sqrt(s1) * 0.5) + 24.6) * z0Tb_size);
  double out_store_4_Store_AIV_MTE3_contrib = (((4 * z0t_size / (Min((3.2 * block_dim), 12.4))) + 12.09) * z0Tb_size);
  double AIV_MTE2 = (775.0 + x_load_0_Load_AIV_MTE2_contrib + y_load_1_Load_AIV_MTE2_contrib);
  double AIV_MTE3 = (497.36 + out_store_4_Store_AIV_MTE3_contrib);
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
  return ((300.0 * Max(0, Ceiling((Ceiling((s0 / (z0t_size))) / (z0Tb_size))))) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));
}

double AxesReorderSolvercase1::GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data) {
  double block_dim = static_cast<double>(tiling_data.get_block_dim());
  double s0 = static_cast<double>(tiling_data.get_s0());
  double s1 = static_cast<double>(tiling_data.get_s1());
  double z0Tb_size = static_cast<double>(tiling_data.get_z0Tb_size());
  double z0t_size = static_cast<double>(tiling_data.get_z0t_size());
  return GetPerfStatic(pipe_type, block_dim, s0, s1, z0Tb_size, z0t_size);
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
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult0G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGI("Set ub_size for tiling case 0 of AscGraph0ScheduleResult0G0 to ((128 * Ceiling((Rational(1 , 8) * s1 * z0t_size))) + (64 * Ceiling((Rational(1 , 8) * z0t_size))) + ");
    OP_LOGI("Max(8192, (32 * Ceiling((Rational(1 , 8) * s1 * z0t_size)))))");
    OP_LOGI("Set block_dim for tiling case 0 of AscGraph0ScheduleResult0G0 to Max(0, Ceiling((Ceiling((s0 / (z0t_size))) / (z0Tb_size))))");
    OP_LOGI("Set hardware params. ub_size = %u. block_dim = %u.", input.ub_size, input.core_num);
    AxesReorderSolvercase0 solver(input, tiling_data);
    if (!solver.Run()) {
      OP_LOGW("Failed to execute axes reorder solver for tilingCaseId case0.");
      return false;
    }
    OP_LOGD("Execute axes reorder solver for tilingCaseId case0 successfully.");
    tiling_data.set_z0t_size(solver.GetTile());
    tiling_data.set_z0Tb_size(solver.GetTilesPerBlock());
    tiling_data.set_block_dim(static_cast<uint32_t>(solver.GetBlockDim()));
    const double elements = static_cast<double>(tiling_data.get_s1()) * tiling_data.get_z0t_size();
    tiling_data.set_q0_size(static_cast<uint32_t>((64 * Ceiling((Rational(1 , 8) * elements)))));
    tiling_data.set_q1_size(static_cast<uint32_t>((32 * Ceiling((Rational(1 , 8) * tiling_data.get_z0t_size())))));
    tiling_data.set_b0_size(static_cast<uint32_t>(Max(8192, (32 * Ceiling((Rational(1 , 8) * elements))))));
    tiling_data.set_tiling_key(0);
    return true;
  }
  void TilingSummary(TilingData &tiling_data) override {
    OP_LOGI("[PROF]The value of z0Tb_size is %u in graph0_result0_g0_0.", tiling_data.get_z0Tb_size());
    OP_LOGI("[PROF]The value of z0t_size is %u in graph0_result0_g0_0.", tiling_data.get_z0t_size());
    OP_LOGI("[PROF]The value of ub_size is %ld in graph0_result0_g0_0.", static_cast<long>(AxesReorderSolvercase0::GetUbSizeStatic(tiling_data.get_s1(), tiling_data.get_z0t_size())));
    OP_LOGI("[PROF]The value of block_dim is %u in graph0_result0_g0_0.", tiling_data.get_block_dim());
    OP_LOGI("[PROF]The value of b0_size is %u in graph0_result0_g0_0.", tiling_data.get_b0_size());
    OP_LOGI("[PROF]The value of q0_size is %u in graph0_result0_g0_0.", tiling_data.get_q0_size());
    OP_LOGI("[PROF]The value of q1_size is %u in graph0_result0_g0_0.", tiling_data.get_q1_size());
    OP_LOGI("[PROF]The value of AIV_MTE2 is %f in graph0_result0_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_MTE2, tiling_data));
    OP_LOGI("[PROF]The value of AIV_MTE3 is %f in graph0_result0_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_MTE3, tiling_data));
    OP_LOGI("[PROF]The value of AIV_VEC is %f in graph0_result0_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_VEC, tiling_data));
    OP_LOGI("[PROF]The objective value of the tiling data is %f in graph0_result0_g0_0.", GetPerf(tiling_data));
  }
  double GetPerf(TilingData &tiling_data) override {
    return AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::ALL, tiling_data);
  }
};

class TilingCaseR0Impl : public TilingCaseImpl {
 public:
  bool DoTiling(TilingData &tiling_data, const SolverInput &input) override {
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult0G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGI("Set ub_size for tiling case 0 of AscGraph0ScheduleResult0G0 to ((128 * Ceiling((Rational(1 , 8) * z1t_size))) + 64 + Max(8192, (32 * Ceiling((Rational(1 , 8) * z1t_size)))))");
    OP_LOGI("Set block_dim for tiling case 0 of AscGraph0ScheduleResult0G0 to Max(0, Ceiling((s0 / (z0Tb_size))))");
    OP_LOGI("Set hardware params. ub_size = %u. block_dim = %u.", input.ub_size, input.core_num);
    AxesReorderSolvercaseR0 solver(input, tiling_data);
    if (!solver.Run()) {
      OP_LOGW("Failed to execute axes reorder solver for tilingCaseId caseR0.");
      return false;
    }
    OP_LOGD("Execute axes reorder solver for tilingCaseId caseR0 successfully.");
    tiling_data.set_z1t_size(solver.GetTile());
    tiling_data.set_z0Tb_size(solver.GetTilesPerBlock());
    tiling_data.set_block_dim(static_cast<uint32_t>(solver.GetBlockDim()));
    tiling_data.set_q0_size(static_cast<uint32_t>((64 * Ceiling((Rational(1 , 8) * tiling_data.get_z1t_size())))));
    tiling_data.set_q1_size(32);
    tiling_data.set_b0_size(static_cast<uint32_t>(Max(8192, (32 * Ceiling((Rational(1 , 8) * tiling_data.get_z1t_size()))))));
    tiling_data.set_tiling_key(1);
    return true;
  }
  void TilingSummary(TilingData &tiling_data) override {
    OP_LOGI("[PROF]The value of z0Tb_size is %u in graph0_result0_g0_R0.", tiling_data.get_z0Tb_size());
    OP_LOGI("[PROF]The value of z1t_size is %u in graph0_result0_g0_R0.", tiling_data.get_z1t_size());
    OP_LOGI("[PROF]The value of ub_size is %ld in graph0_result0_g0_R0.", static_cast<long>(AxesReorderSolvercaseR0::GetUbSizeStatic(tiling_data.get_z1t_size())));
    OP_LOGI("[PROF]The value of block_dim is %u in graph0_result0_g0_R0.", tiling_data.get_block_dim());
    OP_LOGI("[PROF]The value of b0_size is %u in graph0_result0_g0_R0.", tiling_data.get_b0_size());
    OP_LOGI("[PROF]The value of q0_size is %u in graph0_result0_g0_R0.", tiling_data.get_q0_size());
    OP_LOGI("[PROF]The value of q1_size is %u in graph0_result0_g0_R0.", tiling_data.get_q1_size());
    OP_LOGI("[PROF]The value of AIV_MTE2 is %f in graph0_result0_g0_R0.", AxesReorderSolvercaseR0::GetTilingDataPerfStatic(PipeType::AIV_MTE2, tiling_data));
    OP_LOGI("[PROF]The value of AIV_MTE3 is %f in graph0_result0_g0_R0.", AxesReorderSolvercaseR0::GetTilingDataPerfStatic(PipeType::AIV_MTE3, tiling_data));
    OP_LOGI("[PROF]The value of AIV_VEC is %f in graph0_result0_g0_R0.", AxesReorderSolvercaseR0::GetTilingDataPerfStatic(PipeType::AIV_VEC, tiling_data));
    OP_LOGI("[PROF]The objective value of the tiling data is %f in graph0_result0_g0_R0.", GetPerf(tiling_data));
  }
  double GetPerf(TilingData &tiling_data) override {
    return AxesReorderSolvercaseR0::GetTilingDataPerfStatic(PipeType::ALL, tiling_data);
  }
};

class TilingCase1Impl : public TilingCaseImpl {
 public:
  bool DoTiling(TilingData &tiling_data, const SolverInput &input) override {
    OP_LOGI("Set input params for tiling case 1 of AscGraph0ScheduleResult0G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGI("Set ub_size for tiling case 1 of AscGraph0ScheduleResult0G0 to ((128 * Ceiling((Rational(1 , 8) * s1)) * z0t_size) + (64 * Ceiling((Rational(1 , 8) * z0t_size))) + ");
    OP_LOGI("Max(16384, (64 * Ceiling((Rational(1 , 8) * s1)) * z0t_size)))");
    OP_LOGI("Set block_dim for tiling case 1 of AscGraph0ScheduleResult0G0 to Max(0, Ceiling((Ceiling((s0 / (z0t_size))) / (z0Tb_size))))");
    OP_LOGI("Set hardware params. ub_size = %u. block_dim = %u.", input.ub_size, input.core_num);
    AxesReorderSolvercase1 solver(input, tiling_data);
    if (!solver.Run()) {
      OP_LOGW("Failed to execute axes reorder solver for tilingCaseId case1.");
      return false;
    }
    OP_LOGD("Execute axes reorder solver for tilingCaseId case1 successfully.");
    tiling_data.set_z0t_size(solver.GetTile());
    tiling_data.set_z0Tb_size(solver.GetTilesPerBlock());
    tiling_data.set_block_dim(static_cast<uint32_t>(solver.GetBlockDim()));
    const double blocks = Ceiling((Rational(1 , 8) * tiling_data.get_s1())) * tiling_data.get_z0t_size();
    tiling_data.set_q0_size(static_cast<uint32_t>((64 * blocks)));
    tiling_data.set_q1_size(static_cast<uint32_t>((32 * Ceiling((Rational(1 , 8) * tiling_data.get_z0t_size())))));
    tiling_data.set_b0_size(static_cast<uint32_t>(Max(16384, (64 * blocks))));
    tiling_data.set_tiling_key(2);
    return true;
  }
  void TilingSummary(TilingData &tiling_data) override {
    OP_LOGI("[PROF]The value of z0Tb_size is %u in graph0_result0_g0_1.", tiling_data.get_z0Tb_size());
    OP_LOGI("[PROF]The value of z0t_size is %u in graph0_result0_g0_1.", tiling_data.get_z0t_size());
    OP_LOGI("[PROF]The value of ub_size is %ld in graph0_result0_g0_1.", static_cast<long>(AxesReorderSolvercase1::GetUbSizeStatic(tiling_data.get_s1(), tiling_data.get_z0t_size())));
    OP_LOGI("[PROF]The value of block_dim is %u in graph0_result0_g0_1.", tiling_data.get_block_dim());
    OP_LOGI("[PROF]The value of b0_size is %u in graph0_result0_g0_1.", tiling_data.get_b0_size());
    OP_LOGI("[PROF]The value of q0_size is %u in graph0_result0_g0_1.", tiling_data.get_q0_size());
    OP_LOGI("[PROF]The value of q1_size is %u in graph0_result0_g0_1.", tiling_data.get_q1_size());
    OP_LOGI("[PROF]The value of AIV_MTE2 is %f in graph0_result0_g0_1.", AxesReorderSolvercase1::GetTilingDataPerfStatic(PipeType::AIV_MTE2, tiling_data));
    OP_LOGI("[PROF]The value of AIV_MTE3 is %f in graph0_result0_g0_1.", AxesReorderSolvercase1::GetTilingDataPerfStatic(PipeType::AIV_MTE3, tiling_data));
    OP_LOGI("[PROF]The value of AIV_VEC is %f in graph0_result0_g0_1.", AxesReorderSolvercase1::GetTilingDataPerfStatic(PipeType::AIV_VEC, tiling_data));
    OP_LOGI("[PROF]The objective value of the tiling data is %f in graph0_result0_g0_1.", GetPerf(tiling_data));
  }
  double GetPerf(TilingData &tiling_data) override {
    return AxesReorderSolvercase1::GetTilingDataPerfStatic(PipeType::ALL, tiling_data);
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
    OP_LOGD("The optimal objection for tiling_case_id %s of AscGraph0ScheduleResult0G0 is %f.", tiling_case, objective);
    if (objective < best.objective) {
      UpdateBetterTiling(tiling_case, objective, candidate, best);
    }
  }
  OP_LOGD("Finish calculating the tiling data for tiling_case_id %s", tiling_case);
}

void ShowBestSoFar(const Best &best) {
  if (best.objective < DBL_MAX) {
    OP_LOGI("[PROF]The score_map[0] has been processed, tiling case %s of graph0_result0_g0 is the best choice.", best.tiling_case);
  }
}

bool GetTilingKey(TilingData &tiling_data, int32_t tiling_case_id, Best &best) {
  SolverInput input;
  input.core_num = tiling_data.get_block_dim();
  input.ub_size = tiling_data.get_ub_size();
  if (tiling_case_id < 0) {
    OP_LOGI("The user didn't specify tiling_case_id, iterate all templates.");
  }
  if (tiling_case_id < 0 || tiling_case_id == 0) {
    TilingCase0Impl case0;
    TilingCaseR0Impl caseR0;
    OP_LOGI("tiling case0 of asc_graph0_schedule_result0_g0 score is 0");
    OP_LOGI("tiling caseR0 of asc_graph0_schedule_result0_g0 score is 0");
    FindPerfBetterTilingbyCaseId("0", case0, input, tiling_data, best);
    input.sub_case_id = 1;
    FindPerfBetterTilingbyCaseId("R0", caseR0, input, tiling_data, best);
    input.sub_case_id = 0;
    ShowBestSoFar(best);
  }
  if (tiling_case_id < 0 || tiling_case_id == 1) {
    TilingCase1Impl case1;
    input.case_id = 1;
    OP_LOGI("tiling case1 of asc_graph0_schedule_result0_g0 score is 0");
    FindPerfBetterTilingbyCaseId("1", case1, input, tiling_data, best);
    ShowBestSoFar(best);
  }
  if (best.objective >= DBL_MAX) {
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult0G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGI("Set input params for tiling case 1 of AscGraph0ScheduleResult0G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGW("Failed to execute tiling func.");
    return false;
  }
  OP_LOGI("[PROF]Among the templates, tiling case %s of graph0_result0_g0 is the best choice.", best.tiling_case);
  return true;
}
}  // namespace

bool GetTiling(TilingData &tiling_data, int32_t tiling_case_id, GroupResult &result) {
  OP_LOGI("Start tiling for sched group AscGraph0ScheduleResult0G0.");
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
}  // namespace AscGraph0ScheduleResult0G0
}  // namespace optiling
