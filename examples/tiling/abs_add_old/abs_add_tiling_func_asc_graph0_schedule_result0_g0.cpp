#include "autofuse_tiling_func_common.h"

namespace optiling {
class TilingCaseImpl {
 public:
  TilingCaseImpl(uint32_t core_num, uint32_t ub_size) : core_num_(core_num), ub_size_(ub_size) {}
  virtual ~TilingCaseImpl() = default;
  virtual bool DoTiling(AutofuseTilingData& tiling_data) = 0;
  virtual void TilingSummary(AutofuseTilingData& tiling_data) = 0;
  virtual double GetPerf(AutofuseTilingData& tiling_data) = 0;
  virtual int Getub_size(AutofuseTilingData& tiling_data) = 0;
  virtual int Getblock_dim(AutofuseTilingData& tiling_data) = 0;

  bool GetTiling(AutofuseTilingData& tiling_data) {
    OP_LOGD("Execute DoTiling.");
    if (!DoTiling(tiling_data)) {
      OP_LOGW("Failed to do tiling.");
      return false;
    }
    TilingSummary(tiling_data);
    return true;
  }

 protected:
  bool ExecuteSolver(AutofuseTilingData& tiling_data, uint32_t align) {
    const uint32_t total = tiling_data.get_s2() * tiling_data.get_s3();
    tiling_data.set_z0z1t_size(std::min(align, total));
    if (total == 0 || Getub_size(tiling_data) > static_cast<int>(ub_size_)) {
      OP_LOGW("local buffer tiling failed in the initial check");
      OP_LOGW("local buffer tiling failed, input: core_num: %u, ub_size: %u, input_vars[0]: %u, input_vars[1]: %u", core_num_, ub_size_, tiling_data.get_s2(), tiling_data.get_s3());
      OP_LOGW("Get default tiling failed");
      return false;
    }
    uint32_t lower = tiling_data.get_z0z1t_size();
    uint32_t upper = total;
    while (lower < upper) {
      const uint32_t middle = lower + (upper - lower + 1) / 2;
      tiling_data.set_z0z1t_size(middle);
      if (Getub_size(tiling_data) <= static_cast<int>(ub_size_)) {
        lower = middle;
      } else {
        upper = middle - 1;
      }
    }
    ChooseBlocks(tiling_data, lower, align, total);
    return true;
  }

 private:
  void ChooseBlocks(AutofuseTilingData& tiling_data, uint32_t largest, uint32_t align, uint32_t total) {
    OP_LOGI("local buffer tiling success, input: core_num: %u, ub_size: %u, input_vars[0]: %u, input_vars[1]: %u, tiling_vars[0]: %u", core_num_, ub_size_, tiling_data.get_s2(), tiling_data.get_s3(), largest);
    double best_perf = DBL_MAX;
    AutofuseTilingData best = tiling_data;
    for (uint32_t tile = largest; tile > 0; tile = tile > align ? std::max(tile / 2 / align * align, align) : 0) {
      const uint32_t tiles = (total + tile - 1) / tile;
      tiling_data.set_z0z1t_size(tile);
      tiling_data.set_z0z1Tb_size((tiles + core_num_ - 1) / core_num_);
      tiling_data.set_block_dim(static_cast<uint32_t>(Getblock_dim(tiling_data)));
      const double perf = GetPerf(tiling_data);
      if (perf < best_perf) {
        best_perf = perf;
        best = tiling_data;
      }
    }
    tiling_data = best;
    OP_LOGI("multicore tiling success, input: core_num: %u, ub_size: %u, input_vars[0]: %u, input_vars[1]: %u, tiling_vars[0]: %u, tiling_vars[1]: %u", core_num_, ub_size_, tiling_data.get_s2(), tiling_data.get_s3(), tiling_data.get_z0z1Tb_size(), tiling_data.get_z0z1t_size());
  }

 protected:
  uint32_t core_num_;
  uint32_t ub_size_;
};

class TilingCase0Impl : public TilingCaseImpl {
 public:
  TilingCase0Impl(uint32_t core_num, uint32_t ub_size) : TilingCaseImpl(core_num, ub_size) {}

  bool DoTiling(AutofuseTilingData& tiling_data) override {
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult0G0.  s2 = %u. s3 = %u.", tiling_data.get_s2(), tiling_data.get_s3());
    OP_LOGI("Set ub_size for tiling case 0 of AscGraph0ScheduleResult0G0 to ((96 * Ceiling((Rational(1 , 8) * z0z1t_size))) + 8192)");
    OP_LOGI("Set block_dim for tiling case 0 of AscGraph0ScheduleResult0G0 to Max(0, Ceiling((Ceiling((s2 * s3 / (z0z1t_size))) / (z0z1Tb_size))))");
    if (!ExecuteSolver(tiling_data, 8)) {
      OP_LOGW("Failed to execute axes reorder solver for tilingCaseId case0.");
      return false;
    }
    tiling_data.set_q0_size(static_cast<uint32_t>(32 * Ceiling((Rational(1 , 8) * tiling_data.get_z0z1t_size()))));
    tiling_data.set_b0_size(8192);
    tiling_data.set_tiling_key(0);
    return true;
  }

  int Getub_size(AutofuseTilingData& tiling_data) override {
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return ((96 * Ceiling((Rational(1 , 8) * z0z1t_size))) + 8192);
  }

  int Getblock_dim(AutofuseTilingData& tiling_data) override {
    double s2 = tiling_data.get_s2();
    double s3 = tiling_data.get_s3();
    double z0z1Tb_size = tiling_data.get_z0z1Tb_size();
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return Max(0, Ceiling((Ceiling((s2 * s3 / (z0z1t_size))) / (z0z1Tb_size))));
  }

  double GetAIV_MTE2(AutofuseTilingData& tiling_data) {
    double block_dim = tiling_data.get_block_dim();
    double z0z1Tb_size = tiling_data.get_z0z1Tb_size();
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return ((((((4 * z0z1t_size) / (Min((9.9074), (430.5 / block_dim)))) + 27.01) * z0z1Tb_size) + (((4 * z0z1t_size) / (9.9074)) + 12.09) * z0z1Tb_size) + 775.0);
  }

  double GetAIV_MTE3(AutofuseTilingData& tiling_data) {
    double block_dim = tiling_data.get_block_dim();
    double z0z1Tb_size = tiling_data.get_z0z1Tb_size();
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return (((4 * z0z1t_size / (Min((3.2 * block_dim), 12.4))) + 12.09) * z0z1Tb_size + 497.36);
  }

  double GetAIV_VEC(AutofuseTilingData& tiling_data) {
    double z0z1Tb_size = tiling_data.get_z0z1Tb_size();
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return ((((0.0078 * z0z1t_size) + 37.37) + ((0.0156 * z0z1t_size) + 37.37)) * z0z1Tb_size);
  }

  double GetPerf(AutofuseTilingData& tiling_data) override {
    double block_dim = tiling_data.get_block_dim();
    double AIV_MTE2 = GetAIV_MTE2(tiling_data);
    double AIV_MTE3 = GetAIV_MTE3(tiling_data);
    double AIV_VEC = GetAIV_VEC(tiling_data);
    return ((300.0 * block_dim) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));
  }

  void TilingSummary(AutofuseTilingData& tiling_data) override {
    OP_LOGI("[PROF]The value of z0z1Tb_size is %u in graph0_result0_g0_0.", tiling_data.get_z0z1Tb_size());
    OP_LOGI("[PROF]The value of z0z1t_size is %u in graph0_result0_g0_0.", tiling_data.get_z0z1t_size());
    OP_LOGI("[PROF]The value of ub_size is %d in graph0_result0_g0_0.", Getub_size(tiling_data));
    OP_LOGI("[PROF]The value of block_dim is %d in graph0_result0_g0_0.", Getblock_dim(tiling_data));
    OP_LOGI("[PROF]The value of b0_size is %u in graph0_result0_g0_0.", tiling_data.get_b0_size());
    OP_LOGI("[PROF]The value of q0_size is %u in graph0_result0_g0_0.", tiling_data.get_q0_size());
    OP_LOGI("[PROF]The value of AIV_MTE2 is %f in graph0_result0_g0_0.", GetAIV_MTE2(tiling_data));
    OP_LOGI("[PROF]The value of AIV_MTE3 is %f in graph0_result0_g0_0.", GetAIV_MTE3(tiling_data));
    OP_LOGI("[PROF]The value of AIV_VEC is %f in graph0_result0_g0_0.", GetAIV_VEC(tiling_data));
    OP_LOGI("[PROF]The objective value of the tiling data is %f in graph0_result0_g0_0.", GetPerf(tiling_data));
  }
};

class TilingCase1Impl : public TilingCaseImpl {
 public:
  TilingCase1Impl(uint32_t core_num, uint32_t ub_size) : TilingCaseImpl(core_num, ub_size) {}

  bool DoTiling(AutofuseTilingData& tiling_data) override {
    OP_LOGI("Set input params for tiling case 1 of AscGraph0ScheduleResult0G0.  s2 = %u. s3 = %u.", tiling_data.get_s2(), tiling_data.get_s3());
    OP_LOGI("Set ub_size for tiling case 1 of AscGraph0ScheduleResult0G0 to (224 * Ceiling((Rational(1 , 8) * z0z1t_size)))");
    OP_LOGI("Set block_dim for tiling case 1 of AscGraph0ScheduleResult0G0 to Max(0, Ceiling((Ceiling((s2 * s3 / (z0z1t_size))) / (z0z1Tb_size))))");
    if (!ExecuteSolver(tiling_data, 64)) {
      OP_LOGW("Failed to execute axes reorder solver for tilingCaseId case1.");
      return false;
    }
    tiling_data.set_q0_size(static_cast<uint32_t>(64 * Ceiling((Rational(1 , 8) * tiling_data.get_z0z1t_size()))));
    tiling_data.set_b0_size(static_cast<uint32_t>(32 * Ceiling((Rational(1 , 8) * tiling_data.get_z0z1t_size()))));
    tiling_data.set_tiling_key(1);
    return true;
  }

  int Getub_size(AutofuseTilingData& tiling_data) override {
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return (224 * Ceiling((Rational(1 , 8) * z0z1t_size)));
  }

  int Getblock_dim(AutofuseTilingData& tiling_data) override {
    double s2 = tiling_data.get_s2();
    double s3 = tiling_data.get_s3();
    double z0z1Tb_size = tiling_data.get_z0z1Tb_size();
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return Max(0, Ceiling((Ceiling((s2 * s3 / (z0z1t_size))) / (z0z1Tb_size))));
  }

  double GetAIV_MTE2(AutofuseTilingData& tiling_data) {
    double z0z1Tb_size = tiling_data.get_z0z1Tb_size();
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return (((8 * z0z1t_size / (9.1211)) + TernaryOp(ExpectLt(z0z1t_size, 512), 54.02, 27.01)) * z0z1Tb_size + 775.0);
  }

  double GetAIV_MTE3(AutofuseTilingData& tiling_data) {
    double block_dim = tiling_data.get_block_dim();
    double z0z1Tb_size = tiling_data.get_z0z1Tb_size();
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return (((4 * z0z1t_size / (Min((3.2 * block_dim), 12.4))) + 12.09) * z0z1Tb_size + 497.36);
  }

  double GetAIV_VEC(AutofuseTilingData& tiling_data) {
    double z0z1Tb_size = tiling_data.get_z0z1Tb_size();
    double z0z1t_size = tiling_data.get_z0z1t_size();
    return ((((0.0078 * z0z1t_size) + 37.37) + ((0.0156 * z0z1t_size) + 37.37)) * z0z1Tb_size);
  }

  double GetPerf(AutofuseTilingData& tiling_data) override {
    double block_dim = tiling_data.get_block_dim();
    double AIV_MTE2 = GetAIV_MTE2(tiling_data);
    double AIV_MTE3 = GetAIV_MTE3(tiling_data);
    double AIV_VEC = GetAIV_VEC(tiling_data);
    return ((300.0 * block_dim) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));
  }

  void TilingSummary(AutofuseTilingData& tiling_data) override {
    OP_LOGI("[PROF]The value of z0z1Tb_size is %u in graph0_result0_g0_1.", tiling_data.get_z0z1Tb_size());
    OP_LOGI("[PROF]The value of z0z1t_size is %u in graph0_result0_g0_1.", tiling_data.get_z0z1t_size());
    OP_LOGI("[PROF]The value of ub_size is %d in graph0_result0_g0_1.", Getub_size(tiling_data));
    OP_LOGI("[PROF]The value of block_dim is %d in graph0_result0_g0_1.", Getblock_dim(tiling_data));
    OP_LOGI("[PROF]The value of b0_size is %u in graph0_result0_g0_1.", tiling_data.get_b0_size());
    OP_LOGI("[PROF]The value of q0_size is %u in graph0_result0_g0_1.", tiling_data.get_q0_size());
    OP_LOGI("[PROF]The value of AIV_MTE2 is %f in graph0_result0_g0_1.", GetAIV_MTE2(tiling_data));
    OP_LOGI("[PROF]The value of AIV_MTE3 is %f in graph0_result0_g0_1.", GetAIV_MTE3(tiling_data));
    OP_LOGI("[PROF]The value of AIV_VEC is %f in graph0_result0_g0_1.", GetAIV_VEC(tiling_data));
    OP_LOGI("[PROF]The objective value of the tiling data is %f in graph0_result0_g0_1.", GetPerf(tiling_data));
  }
};

bool GetTilingKey(AutofuseTilingData& tiling_data, int32_t tilingCaseId) {
  const uint32_t core_num = tiling_data.get_block_dim();
  const uint32_t ub_size = tiling_data.get_ub_size();
  TilingCase0Impl case0(core_num, ub_size);
  TilingCase1Impl case1(core_num, ub_size);
  TilingCaseImpl* const cases[] = {&case0, &case1};
  AutofuseTilingData best = tiling_data;
  double best_perf = DBL_MAX;
  int32_t best_case = -1;
  if (tilingCaseId < 0) {
    OP_LOGI("The user didn't specify tilingCaseId, iterate all templates.");
  }
  for (int32_t index = 0; index < 2; ++index) {
    AutofuseTilingData candidate = tiling_data;
    if ((tilingCaseId >= 0 && tilingCaseId != index) || !cases[index]->GetTiling(candidate)) {
      continue;
    }
    const double perf = cases[index]->GetPerf(candidate);
    if (perf < best_perf) {
      best = candidate;
      best_perf = perf;
      best_case = index;
    }
  }
  if (best_case < 0) {
    OP_LOGE("Set input params for tiling case 0 of AscGraph0ScheduleResult0G0.  s2 = %u. s3 = %u.", tiling_data.get_s2(), tiling_data.get_s3());
    OP_LOGE("Failed to execute tiling func.");
    return false;
  }
  tiling_data = best;
  OP_LOGI("[PROF]Among the templates, tiling case %d of graph0_result0_g0 is the best choice.", best_case);
  return true;
}

bool GetTiling(AutofuseTilingData& tiling_data, int32_t tilingCaseId) {
  OP_LOGI("Start GetTiling.");
  if (!GetTilingKey(tiling_data, tilingCaseId)) {
    OP_LOGE("GetTiling Failed.");
    return false;
  }
  OP_LOGI("End GetTiling.");
  return true;
}
}  // namespace optiling
