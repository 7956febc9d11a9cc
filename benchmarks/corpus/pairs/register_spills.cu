// Planted: a launch bound of 8 blocks leaves 32 registers to a thread that needs about 100, so values spill.
#include "../corpus.cuh"

constexpr size_t kThreads = 1 << 18;
constexpr int kLive = 64, kRounds = 64;

// 64 running values per thread, all of them live over the whole loop.
__device__ inline void relax(const float* in, float* out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  float live[kLive];
#pragma unroll
  for (int k = 0; k < kLive; ++k) live[k] = in[k * kThreads + i];
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int k = 0; k < kLive; ++k) live[k] = 0.5f * live[k] + 0.25f * live[(k + 1) % kLive];
  }
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kLive; ++k) sum += live[k];
  out[i] = sum;
}

namespace before {
__global__ void __launch_bounds__(256, 8) relax_ring(const float* __restrict__ in, float* __restrict__ out) {
  relax(in, out);
}
}  // namespace before

namespace after {
__global__ void __launch_bounds__(256) relax_ring(const float* __restrict__ in, float* __restrict__ out) {
  relax(in, out);
}
}  // namespace after

PAIR(register_spills, "register-spills") {
  const float* in = run.input(kThreads * kLive);
  float* out = run.output<float>(kThreads);
  run.before([=] { before::relax_ring<<<kThreads / 256, 256>>>(in, out); });
  run.after([=] { after::relax_ring<<<kThreads / 256, 256>>>(in, out); });
  run.check(out, kThreads, [](size_t i) {
    double live[kLive], sum = 0;
    for (int k = 0; k < kLive; ++k) live[k] = corpus::value(k * kThreads + i);
    for (int round = 0; round < kRounds; ++round) {
      for (int k = 0; k < kLive; ++k) live[k] = 0.5 * live[k] + 0.25 * live[(k + 1) % kLive];
    }
    for (double value : live) sum += value;
    return sum;
  }, 1e-5);
}
