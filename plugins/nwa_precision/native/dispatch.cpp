// Chooses the block functions for the processor at hand.
#include <cstdlib>
#include <cstring>

#ifdef KERNEL_X86
#include <cpuid.h>
#endif

#include "kernel.h"

namespace precision {

extern const BlockOps block_ops_baseline;
#ifdef KERNEL_X86
extern const BlockOps block_ops_avx2;
extern const BlockOps block_ops_avx512;
#endif

namespace {

#ifdef KERNEL_X86
// Not among the names of __builtin_cpu_supports in every compiler.
bool has_f16c() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

// AUTOFUSE_KERNEL_ISA takes a lesser table than the best one, to test it.
const BlockOps& choose() {
#ifdef KERNEL_X86
    const char* wanted = std::getenv("AUTOFUSE_KERNEL_ISA");
    const auto allowed = [wanted](const BlockOps& ops) { return !wanted || !std::strcmp(wanted, ops.name); };
    __builtin_cpu_init();
    const bool avx512 = has_f16c() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512 && allowed(block_ops_avx512)) return block_ops_avx512;
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    if (avx2 && allowed(block_ops_avx2)) return block_ops_avx2;
#endif
    return block_ops_baseline;
}

}  // namespace

const BlockOps& block_ops() {
    static const BlockOps& chosen = choose();
    return chosen;
}

}  // namespace precision
