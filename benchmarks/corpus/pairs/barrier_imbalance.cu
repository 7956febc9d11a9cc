// Planted: one warp of eight makes the table that all of them wait for at a barrier.
#include "../corpus.cuh"

constexpr int kThreads = 256, kTable = 1024, kSteps = 64, kRounds = 8;
constexpr size_t kCount = size_t(132) * 32 * kThreads;

__device__ __host__ inline float entry(int at, int round) {
  float x = 0.001f * at + 0.01f * round;
  for (int step = 0; step < kSteps; ++step) x = x * 0.75f + 0.125f;
  return x;
}

template <int makers>
__device__ void look_up(float* out) {
  __shared__ float table[kTable];
  const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
  float sum = 0.0f;
  for (int round = 0; round < kRounds; ++round) {
    if (threadIdx.x < makers)
      for (int at = threadIdx.x; at < kTable; at += makers) table[at] = entry(at, round);
    __syncthreads();
    sum += table[(i * 33 + round) % kTable];
    __syncthreads();
  }
  out[i] = sum;
}

namespace before {
__global__ void look_up_all(float* __restrict__ out) { look_up<32>(out); }
}  // namespace before

namespace after {
__global__ void look_up_all(float* __restrict__ out) { look_up<kThreads>(out); }
}  // namespace after

PAIR(barrier_imbalance, "barrier-imbalance") {
  float* out = run.output<float>(kCount);
  run.before([=] { before::look_up_all<<<kCount / kThreads, kThreads>>>(out); });
  run.after([=] { after::look_up_all<<<kCount / kThreads, kThreads>>>(out); });
  run.check(out, kCount, [](size_t i) {
    double sum = 0;
    for (int round = 0; round < kRounds; ++round) sum += entry((i * 33 + round) % kTable, round);
    return sum;
  }, 1e-5);
}
