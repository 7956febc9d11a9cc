// Planted: three kernels move the whole array through device memory for one expression.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 26;
constexpr int kThreads = 256, kBlocks = kCount / kThreads;

namespace before {
__global__ void scale(const float* __restrict__ in, float* __restrict__ out, float by) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = in[i] * by;
}
__global__ void add_bias(float* __restrict__ out, float bias) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] += bias;
}
__global__ void clamp(float* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = fmaxf(out[i], 0.0f);
}
}  // namespace before

namespace after {
__global__ void scale_bias_clamp(const float* __restrict__ in, float* __restrict__ out, float by, float bias) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = fmaxf(fmaf(in[i], by, bias), 0.0f);
}
}  // namespace after

PAIR(three_elementwise, "three-elementwise") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] {
    before::scale<<<kBlocks, kThreads>>>(in, out, 1.5f);
    before::add_bias<<<kBlocks, kThreads>>>(out, 0.25f);
    before::clamp<<<kBlocks, kThreads>>>(out);
  });
  run.after([=] { after::scale_bias_clamp<<<kBlocks, kThreads>>>(in, out, 1.5f, 0.25f); });
  run.check(out, kCount, [](size_t i) { return std::fmax(corpus::value(i) * 1.5 + 0.25, 0.0); }, 1e-6);
}
