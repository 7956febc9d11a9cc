// Planted: 160 values are loaded early and kept in registers over a walk that waits for memory.
#include "../corpus.cuh"

constexpr int kThreads = 128, kHops = 64, kKept = 160;
constexpr size_t kTable = 1 << 26, kWalkers = 132 * 16 * kThreads * 2;

__device__ inline uint32_t walk(const uint32_t* table, size_t i) {
  uint32_t at = corpus::bits(i) % kTable;
#pragma unroll 1
  for (int hop = 0; hop < kHops; ++hop) at = table[at] % kTable;
  return at;
}

namespace before {
__global__ void __launch_bounds__(kThreads) walk_and_mix(const uint32_t* __restrict__ table, uint32_t* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
  uint32_t kept[kKept];
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    kept[k] = table[(i + k) % kTable];
    asm volatile("" : "+r"(kept[k]));
  }
  uint32_t mixed = walk(table, i);
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    asm volatile("" : "+r"(kept[k]));
    mixed = mixed * 31 + kept[k];
  }
  out[i] = mixed;
}
}  // namespace before

namespace after {
__global__ void __launch_bounds__(kThreads) walk_and_mix(const uint32_t* __restrict__ table, uint32_t* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
  uint32_t mixed = walk(table, i);
#pragma unroll 8
  for (int k = 0; k < kKept; ++k) mixed = mixed * 31 + table[(i + k) % kTable];
  out[i] = mixed;
}
}  // namespace after

PAIR(occupancy_registers, "occupancy-registers") {
  const uint32_t* table = run.input<uint32_t, corpus::bits>(kTable);
  uint32_t* out = run.output<uint32_t>(kWalkers);
  run.before([=] { before::walk_and_mix<<<kWalkers / kThreads, kThreads>>>(table, out); });
  run.after([=] { after::walk_and_mix<<<kWalkers / kThreads, kThreads>>>(table, out); });
  run.check(out, kWalkers, [](size_t i) {
    uint32_t mixed = corpus::bits(i) % kTable;
    for (int hop = 0; hop < kHops; ++hop) mixed = corpus::bits(mixed) % kTable;
    for (int k = 0; k < kKept; ++k) mixed = mixed * 31 + corpus::bits((i + k) % kTable);
    return double(mixed);
  }, 0);
}
