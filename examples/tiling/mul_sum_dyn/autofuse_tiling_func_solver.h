// The axes reorder solver: tiles that fit the unified buffer first, then blocks that fit the cores.
#ifndef AUTOFUSE_TILING_FUNC_SOLVER_H
#define AUTOFUSE_TILING_FUNC_SOLVER_H

#include <cstdint>
#include "autofuse_tiling_func_base.h"

namespace optiling {
struct TilingVar {
  uint32_t value = 0;
  uint32_t upper_bound = 0;
  uint32_t align = 1;
};

struct SolverInput {
  uint32_t result_id = 0;
  uint32_t group_id = 0;
  uint32_t case_id = 0;
  uint32_t sub_case_id = 0;
  uint32_t core_num = 0;
  uint32_t ub_size = 0;
};

class AxesReorderSolver {
 public:
  AxesReorderSolver(const SolverInput &input, uint32_t upper_bound, uint32_t align);
  virtual ~AxesReorderSolver() = default;
  AxesReorderSolver(const AxesReorderSolver &) = delete;
  AxesReorderSolver &operator=(const AxesReorderSolver &) = delete;

  bool Run();
  uint32_t GetTile() const { return local_buffer_var_.value; }
  uint32_t GetTilesPerBlock() const { return multicore_var_.value; }
  virtual int64_t GetUbSize() const = 0;
  virtual int GetBlockDim() const = 0;
  virtual double GetPerf() const = 0;

 protected:
  // Number of tiles that the blocks share out for the current tile.
  virtual uint32_t GetTileCount() const = 0;

  SolverInput input_;
  TilingVar local_buffer_var_;
  TilingVar multicore_var_;

 private:
  bool LocalBufferTiling();
  bool MulticoreTiling(uint32_t core_num);
  bool GetTiling(uint32_t core_num);
  void AutoTuning();
  void ApplyPromptAlign();
};
}  // namespace optiling

#endif  // AUTOFUSE_TILING_FUNC_SOLVER_H
