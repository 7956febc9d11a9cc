// Planted: 16 blocks on a device of 132 multiprocessors.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 24;

__device__ inline void wave(const float* in, float* out) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < kCount; i += step) out[i] = 0.5f * in[i] + 1.0f;
}

namespace before {
__global__ void rescale(const float* __restrict__ in, float* __restrict__ out) { wave(in, out); }
}  // namespace before

namespace after {
__global__ void rescale(const float* __restrict__ in, float* __restrict__ out) { wave(in, out); }
}  // namespace after

PAIR(tiny_grid, "tiny-grid") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::rescale<<<16, 256>>>(in, out); });
  run.after([=] { after::rescale<<<132 * 8, 256>>>(in, out); });
  run.check(out, kCount, [](size_t i) { return 0.5 * corpus::value(i) + 1.0; }, 1e-6);
}
