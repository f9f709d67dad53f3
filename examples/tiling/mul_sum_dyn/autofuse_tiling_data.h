// Tiling data of the sample operator autofuse_reduce_1_Mul_Sum: one struct per schedule group, and the one that holds them.
#ifndef AUTOFUSE_TILING_DATA_H
#define AUTOFUSE_TILING_DATA_H

#include <cstdint>
#include "kernel_tiling/kernel_tiling.h"

#define BEGIN_TILING_DATA_DEF_T(name) struct name {
#define TILING_DATA_FIELD_DEF_T(type, name)            \
  type name;                                           \
  inline void set_##name(type value) { name = value; } \
  inline type get_##name() const { return name; }
#define TILING_DATA_FIELD_DEF_T_STRUCT(type, name) type name;
#define END_TILING_DATA_DEF_T }

BEGIN_TILING_DATA_DEF_T(AscGraph0ScheduleResult0G0TilingData)
  TILING_DATA_FIELD_DEF_T(uint32_t, block_dim);
  TILING_DATA_FIELD_DEF_T(uint32_t, corenum);
  TILING_DATA_FIELD_DEF_T(uint32_t, ub_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, hbm_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, tiling_key);
  TILING_DATA_FIELD_DEF_T(uint32_t, s0);
  TILING_DATA_FIELD_DEF_T(uint32_t, s1);
  TILING_DATA_FIELD_DEF_T(uint32_t, z0t_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, z0Tb_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, z1t_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, q0_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, q1_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, b0_size);
END_TILING_DATA_DEF_T;

BEGIN_TILING_DATA_DEF_T(AscGraph0ScheduleResult1G0TilingData)
  TILING_DATA_FIELD_DEF_T(uint32_t, block_dim);
  TILING_DATA_FIELD_DEF_T(uint32_t, corenum);
  TILING_DATA_FIELD_DEF_T(uint32_t, ub_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, hbm_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, tiling_key);
  TILING_DATA_FIELD_DEF_T(uint32_t, s0);
  TILING_DATA_FIELD_DEF_T(uint32_t, s1);
  TILING_DATA_FIELD_DEF_T(uint32_t, z1t_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, z0z1Tb_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, q0_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, q1_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, b0_size);
END_TILING_DATA_DEF_T;

BEGIN_TILING_DATA_DEF_T(AscGraph0ScheduleResult1G1TilingData)
  TILING_DATA_FIELD_DEF_T(uint32_t, block_dim);
  TILING_DATA_FIELD_DEF_T(uint32_t, corenum);
  TILING_DATA_FIELD_DEF_T(uint32_t, ub_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, hbm_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, tiling_key);
  TILING_DATA_FIELD_DEF_T(uint32_t, A_org_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, Rm_org_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, At_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, ATb_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, q0_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, b0_size);
END_TILING_DATA_DEF_T;

BEGIN_TILING_DATA_DEF_T(AutofuseTilingData)
  TILING_DATA_FIELD_DEF_T(uint32_t, block_dim);
  TILING_DATA_FIELD_DEF_T(uint32_t, corenum);
  TILING_DATA_FIELD_DEF_T(uint32_t, ub_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, hbm_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, workspace0);
  TILING_DATA_FIELD_DEF_T(uint32_t, graph0_tiling_key);
  TILING_DATA_FIELD_DEF_T_STRUCT(AscGraph0ScheduleResult0G0TilingData, graph0_result0_g0_tiling_data);
  TILING_DATA_FIELD_DEF_T_STRUCT(AscGraph0ScheduleResult1G0TilingData, graph0_result1_g0_tiling_data);
  TILING_DATA_FIELD_DEF_T_STRUCT(AscGraph0ScheduleResult1G1TilingData, graph0_result1_g1_tiling_data);
END_TILING_DATA_DEF_T;

#endif  // AUTOFUSE_TILING_DATA_H
