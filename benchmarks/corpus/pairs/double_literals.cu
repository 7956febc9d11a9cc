// Planted: literals without an `f` make a polynomial in float one in double.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 24;
constexpr int kDegree = 128;

namespace before {
__global__ void series(const float* __restrict__ in, float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const float x = in[i];
  float y = 0.5;
#pragma unroll 16
  for (int k = 0; k < kDegree; ++k) y = y * (x * 0.7) + 0.1;
  out[i] = y;
}
}  // namespace before

namespace after {
__global__ void series(const float* __restrict__ in, float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const float x = in[i];
  float y = 0.5f;
#pragma unroll 16
  for (int k = 0; k < kDegree; ++k) y = y * (x * 0.7f) + 0.1f;
  out[i] = y;
}
}  // namespace after

PAIR(double_literals, "double-literals") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::series<<<kCount / 256, 256>>>(in, out); });
  run.after([=] { after::series<<<kCount / 256, 256>>>(in, out); });
  run.check(out, kCount, [](size_t i) {
    double y = 0.5;
    for (int k = 0; k < kDegree; ++k) y = y * (corpus::value(i) * 0.7) + 0.1;
    return y;
  }, 1e-5);
}
