// Planted: a thousand launches of some microseconds each, one after the other; a graph launches them at once.
#include "../corpus.cuh"

constexpr int kCount = 1 << 16, kSteps = 1000, kThreads = 256;

__device__ inline void step(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = 0.5f * in[i] + 0.25f * in[(i + 1) % kCount] + 0.25f * in[(i + kCount - 1) % kCount];
}

namespace before {
__global__ void smooth(const float* __restrict__ in, float* __restrict__ out) { step(in, out); }
}  // namespace before

namespace after {
__global__ void smooth(const float* __restrict__ in, float* __restrict__ out) { step(in, out); }
}  // namespace after

template <typename Kernel>
void smooth_all(Kernel kernel, const float* in, float* even, float* odd, cudaStream_t stream) {
  for (int k = 0; k < kSteps; ++k)
    kernel<<<kCount / kThreads, kThreads, 0, stream>>>(k == 0 ? in : k % 2 ? even : odd, k % 2 ? odd : even);
}

PAIR(tiny_launches, "tiny-launches") {
  const float* in = run.input(kCount);
  float* even = run.output<float>(kCount);
  float* odd = run.output<float>(kCount);
  run.before([=] { smooth_all(before::smooth, in, even, odd, 0); });
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  CUDA_CHECK(cudaStreamCreate(&stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  smooth_all(after::smooth, in, even, odd, stream);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&replay, graph, 0));
  run.after([=] { CUDA_CHECK(cudaGraphLaunch(replay, 0)); });
  run.check(odd, kCount, [](size_t at) {
    static std::vector<double> smoothed = [] {
      std::vector<double> all(kCount), next(kCount);
      for (int i = 0; i < kCount; ++i) all[i] = corpus::value(i);
      for (int k = 0; k < kSteps; ++k) {
        for (int i = 0; i < kCount; ++i)
          next[i] = 0.5 * all[i] + 0.25 * all[(i + 1) % kCount] + 0.25 * all[(i + kCount - 1) % kCount];
        all.swap(next);
      }
      return all;
    }();
    return smoothed[at];
  }, 1e-4);
}
