#ifndef AUTOFUSE_TILING_DATA_H
#define AUTOFUSE_TILING_DATA_H

#include <stdint.h>

// Tiling data of the sample operator autofuse_pointwise_3_Abs_Add: one group, so one flat struct.
struct AutofuseTilingData {
  uint32_t block_dim;
  uint32_t corenum;
  uint32_t ub_size;
  uint32_t hbm_size;
  uint32_t tiling_key;
  uint32_t s2;
  uint32_t s3;
  uint32_t z0z1t_size;
  uint32_t z0z1Tb_size;
  uint32_t q0_size;
  uint32_t b0_size;
  void set_block_dim(uint32_t value) { block_dim = value; }
  void set_corenum(uint32_t value) { corenum = value; }
  void set_ub_size(uint32_t value) { ub_size = value; }
  void set_tiling_key(uint32_t value) { tiling_key = value; }
  void set_s2(uint32_t value) { s2 = value; }
  void set_s3(uint32_t value) { s3 = value; }
  void set_z0z1t_size(uint32_t value) { z0z1t_size = value; }
  void set_z0z1Tb_size(uint32_t value) { z0z1Tb_size = value; }
  void set_q0_size(uint32_t value) { q0_size = value; }
  void set_b0_size(uint32_t value) { b0_size = value; }
  uint32_t get_block_dim() { return block_dim; }
  uint32_t get_corenum() { return corenum; }
  uint32_t get_ub_size() { return ub_size; }
  uint32_t get_s2() { return s2; }
  uint32_t get_s3() { return s3; }
  uint32_t get_z0z1t_size() { return z0z1t_size; }
  uint32_t get_z0z1Tb_size() { return z0z1Tb_size; }
  uint32_t get_q0_size() { return q0_size; }
  uint32_t get_b0_size() { return b0_size; }
};

#endif
