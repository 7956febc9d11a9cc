// Planted: a block asks for 100 kB of shared memory and uses 1 kB, so that two blocks of four warps fit.
#include "../corpus.cuh"

constexpr int kThreads = 128, kHops = 64, kAsked = 100 * 1024, kUsed = kThreads * 4;
constexpr size_t kTable = 1 << 26, kWalkers = 132 * 16 * kThreads * 4;

__device__ inline void walk(const uint32_t* table, uint32_t* out) {
  extern __shared__ uint32_t seen[];
  const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
  uint32_t at = corpus::bits(i) % kTable;
  for (int hop = 0; hop < kHops; ++hop) at = table[at] % kTable;
  seen[threadIdx.x] = at;
  __syncthreads();
  out[i] = seen[threadIdx.x ^ 1];
}

namespace before {
__global__ void follow(const uint32_t* __restrict__ table, uint32_t* __restrict__ out) { walk(table, out); }
}  // namespace before

namespace after {
__global__ void follow(const uint32_t* __restrict__ table, uint32_t* __restrict__ out) { walk(table, out); }
}  // namespace after

PAIR(occupancy_shared, "occupancy-shared") {
  const uint32_t* table = run.input<uint32_t, corpus::bits>(kTable);
  uint32_t* out = run.output<uint32_t>(kWalkers);
  CUDA_CHECK(cudaFuncSetAttribute(before::follow, cudaFuncAttributeMaxDynamicSharedMemorySize, kAsked));
  run.before([=] { before::follow<<<kWalkers / kThreads, kThreads, kAsked>>>(table, out); });
  run.after([=] { after::follow<<<kWalkers / kThreads, kThreads, kUsed>>>(table, out); });
  run.check(out, kWalkers, [](size_t i) {
    uint32_t at = corpus::bits(i ^ 1) % kTable;
    for (int hop = 0; hop < kHops; ++hop) at = corpus::bits(at) % kTable;
    return double(at);
  }, 0);
}
