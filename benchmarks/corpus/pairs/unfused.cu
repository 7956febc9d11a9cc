// Planted: multiplications and additions are rounded one by one, so that none is fused.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 24;
constexpr int kDegree = 512;

namespace before {
__global__ void polynomial(const float* __restrict__ in, float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const float x = in[i];
  float y = 0.5f;
#pragma unroll 16
  for (int k = 0; k < kDegree; ++k) y = __fadd_rn(__fmul_rn(y, x), 0.1f);
  out[i] = y;
}
}  // namespace before

namespace after {
__global__ void polynomial(const float* __restrict__ in, float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const float x = in[i];
  float y = 0.5f;
#pragma unroll 16
  for (int k = 0; k < kDegree; ++k) y = fmaf(y, x, 0.1f);
  out[i] = y;
}
}  // namespace after

PAIR(unfused, "unfused-multiply-add") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::polynomial<<<kCount / 256, 256>>>(in, out); });
  run.after([=] { after::polynomial<<<kCount / 256, 256>>>(in, out); });
  run.check(out, kCount, [](size_t i) {
    double y = 0.5;
    for (int k = 0; k < kDegree; ++k) y = y * corpus::value(i) + 0.1;
    return y;
  }, 1e-3);
}
