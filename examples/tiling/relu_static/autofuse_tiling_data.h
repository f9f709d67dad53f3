#ifndef AUTOFUSE_TILING_DATA_H
#define AUTOFUSE_TILING_DATA_H

#include <cstdint>

// Tiling data of the sample operator autofuse_pointwise_5_Relu, whose shape is fixed: 4096 x 1000, float16.
struct AutofuseTilingData {
  uint32_t block_dim;
  uint32_t ub_size;
  uint16_t flags[2];
  uint64_t elements;
  uint32_t z0t_size;
  uint32_t z0Tb_size;
  struct Tail {
    int32_t rows;
    double ratio;
  } tails[2];
};

#endif
