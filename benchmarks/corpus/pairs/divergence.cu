// Planted: even and odd threads take different branches of like length, so that every warp runs both.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 23;
constexpr int kSteps = 256;

__device__ __host__ inline float contract(float x) {
  for (int step = 0; step < kSteps; ++step) x = x * 0.75f + 0.125f;
  return x;
}
__device__ __host__ inline float alternate(float x) {
  for (int step = 0; step < kSteps; ++step) x = 0.25f - x * x * 0.5f;
  return x;
}

namespace before {
__global__ void two_kinds(const float* __restrict__ in, float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = i % 2 ? alternate(in[i]) : contract(in[i]);
}
}  // namespace before

namespace after {
__global__ void two_kinds(const float* __restrict__ in, float* __restrict__ out) {
  const size_t thread = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool odd = thread >= kCount / 2;
  const size_t i = (thread % (kCount / 2)) * 2 + odd;
  out[i] = odd ? alternate(in[i]) : contract(in[i]);
}
}  // namespace after

PAIR(divergence, "divergence") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::two_kinds<<<kCount / 256, 256>>>(in, out); });
  run.after([=] { after::two_kinds<<<kCount / 256, 256>>>(in, out); });
  run.check(out, kCount, [](size_t i) {
    const float x = corpus::value(i);
    return double(i % 2 ? alternate(x) : contract(x));
  }, 1e-5);
}
