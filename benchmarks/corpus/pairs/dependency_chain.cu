// Planted: one warp per scheduler walks one chain of dependent operations at a time.
#include "../corpus.cuh"

constexpr int kBlocks = 132, kThreads = 128, kEach = 64, kSteps = 512, kAtOnce = 8;
constexpr size_t kStride = size_t(kBlocks) * kThreads, kCount = kStride * kEach;

namespace before {
__global__ void iterate_map(const float* __restrict__ in, float* __restrict__ out) {
  const size_t thread = size_t(blockIdx.x) * kThreads + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < kEach; ++k) {
    float x = in[k * kStride + thread];
    for (int step = 0; step < kSteps; ++step) x = fmaf(x, 0.75f, 0.125f);
    out[k * kStride + thread] = x;
  }
}
}  // namespace before

namespace after {
__global__ void iterate_map(const float* __restrict__ in, float* __restrict__ out) {
  const size_t thread = size_t(blockIdx.x) * kThreads + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < kEach; k += kAtOnce) {
    float x[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) x[j] = in[(k + j) * kStride + thread];
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) x[j] = fmaf(x[j], 0.75f, 0.125f);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) out[(k + j) * kStride + thread] = x[j];
  }
}
}  // namespace after

PAIR(dependency_chain, "dependency-chain") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::iterate_map<<<kBlocks, kThreads>>>(in, out); });
  run.after([=] { after::iterate_map<<<kBlocks, kThreads>>>(in, out); });
  run.check(out, kCount, [](size_t i) {
    double x = corpus::value(i);
    for (int step = 0; step < kSteps; ++step) x = x * 0.75 + 0.125;
    return x;
  }, 1e-5);
}
