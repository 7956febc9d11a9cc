// Planted: blocks of 33 threads, so that every second warp runs one thread of 32.
#include "../corpus.cuh"

constexpr int kSteps = 256;
constexpr size_t kCount = 33 * 256 * 1024;

__device__ inline void settle(const float* in, float* out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int step = 0; step < kSteps; ++step) x = fmaf(x, 0.99f, 0.001f);
  out[i] = x;
}

namespace before {
__global__ void settle_all(const float* __restrict__ in, float* __restrict__ out) { settle(in, out); }
}  // namespace before

namespace after {
__global__ void settle_all(const float* __restrict__ in, float* __restrict__ out) { settle(in, out); }
}  // namespace after

PAIR(odd_blocks, "blocks-of-33") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::settle_all<<<kCount / 33, 33>>>(in, out); });
  run.after([=] { after::settle_all<<<kCount / 256, 256>>>(in, out); });
  run.check(out, kCount, [](size_t i) {
    double x = corpus::value(i);
    for (int step = 0; step < kSteps; ++step) x = x * double(0.99f) + double(0.001f);
    return x;
  }, 1e-4);
}
