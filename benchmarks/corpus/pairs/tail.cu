// Planted: one block more per eighth multiprocessor than a wave holds, so that a second wave is nearly empty.
#include "../corpus.cuh"

constexpr int kThreads = 256, kWave = 132 * 8, kBlocks = kWave + 16, kEach = 64, kSteps = 512;
constexpr size_t kCount = size_t(kBlocks) * kThreads * kEach;

__device__ inline float iterate(float x) {
  for (int step = 0; step < kSteps; ++step) x = fmaf(x, 0.99f, 0.001f);
  return x;
}

namespace before {
__global__ void __launch_bounds__(kThreads, 8) relax(const float* __restrict__ in, float* __restrict__ out) {
  const size_t first = size_t(blockIdx.x) * kThreads * kEach + threadIdx.x;
  for (int k = 0; k < kEach; ++k) out[first + k * kThreads] = iterate(in[first + k * kThreads]);
}
}  // namespace before

namespace after {
__global__ void __launch_bounds__(kThreads, 8) relax(const float* __restrict__ in, float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
  out[i] = iterate(in[i]);
}
}  // namespace after

PAIR(tail, "tail") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::relax<<<kBlocks, kThreads>>>(in, out); });
  run.after([=] { after::relax<<<kBlocks * kEach, kThreads>>>(in, out); });
  run.check(out, kCount, [](size_t i) {
    double x = corpus::value(i);
    for (int step = 0; step < kSteps; ++step) x = x * double(0.99f) + double(0.001f);
    return x;
  }, 1e-4);
}
