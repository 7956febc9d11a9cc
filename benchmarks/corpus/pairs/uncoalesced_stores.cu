// Planted: each thread writes eight neighbours one after the other, so that a warp's store touches 32 sectors.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 26;
constexpr int kEach = 8;

namespace before {
__global__ void fill_ramp(float* __restrict__ out, float step) {
  const size_t first = (size_t(blockIdx.x) * blockDim.x + threadIdx.x) * kEach;
#pragma unroll 1
  for (int k = 0; k < kEach; ++k) out[first + k] = step * float((first + k) % 1024);
}
}  // namespace before

namespace after {
__global__ void fill_ramp(float* __restrict__ out, float step) {
  const size_t first = size_t(blockIdx.x) * blockDim.x * kEach + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < kEach; ++k) out[first + k * blockDim.x] = step * float((first + k * blockDim.x) % 1024);
}
}  // namespace after

PAIR(uncoalesced_stores, "uncoalesced-stores") {
  float* out = run.output<float>(kCount);
  run.before([=] { before::fill_ramp<<<kCount / kEach / 256, 256>>>(out, 0.5f); });
  run.after([=] { after::fill_ramp<<<kCount / kEach / 256, 256>>>(out, 0.5f); });
  run.check(out, kCount, [](size_t i) { return 0.5 * (i % 1024); }, 0);
}
