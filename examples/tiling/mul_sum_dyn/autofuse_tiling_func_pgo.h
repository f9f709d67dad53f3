// Record of one measured solution; profile guided search is not part of this sample.
#ifndef AUTOFUSE_TILING_FUNC_PGO_H
#define AUTOFUSE_TILING_FUNC_PGO_H

#include "autofuse_tiling_data.h"

struct AutofuseTilingDataPerf {
  AutofuseTilingData tiling_data;
  double best_perf;
};

#endif  // AUTOFUSE_TILING_FUNC_PGO_H
