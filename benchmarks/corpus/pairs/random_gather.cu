// Planted: 4 bytes are gathered from random places of 256 MB; sorted, neighbours share sectors.
#include "../corpus.cuh"

constexpr size_t kTable = 1 << 26, kCount = 1 << 25;

__device__ __host__ inline uint32_t scattered(uint64_t i) { return corpus::bits(i) % kTable; }
__device__ __host__ inline uint32_t ascending(uint64_t i) { return uint32_t(i * (kTable / kCount)) + corpus::bits(i) % 2; }

namespace before {
__global__ void gather(const float* __restrict__ table, const uint32_t* __restrict__ from, float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = table[from[i]] - corpus::value(from[i]);
}
}  // namespace before

namespace after {
__global__ void gather(const float* __restrict__ table, const uint32_t* __restrict__ from, float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = table[from[i]] - corpus::value(from[i]);
}
}  // namespace after

PAIR(random_gather, "random-gather") {
  const float* table = run.input(kTable);
  const uint32_t* any = run.input<uint32_t, scattered>(kCount);
  const uint32_t* sorted = run.input<uint32_t, ascending>(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::gather<<<kCount / 256, 256>>>(table, any, out); });
  run.after([=] { after::gather<<<kCount / 256, 256>>>(table, sorted, out); });
  run.check(out, kCount, [](size_t) { return 0.0; }, 0);
}
