// Planted: four passes over an array that does not fit into L2; in pieces of 16 MB, three of them hit L2.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 26, kPiece = 1 << 22;
constexpr int kPasses = 4, kThreads = 256;

namespace before {
__global__ void damp(float4* __restrict__ data, float by) {
  const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
  float4 x = data[i];
  data[i] = make_float4(x.x * by + 1, x.y * by + 1, x.z * by + 1, x.w * by + 1);
}
}  // namespace before

namespace after {
__global__ void damp(float4* __restrict__ data, float by) {
  const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
  float4 x = data[i];
  data[i] = make_float4(x.x * by + 1, x.y * by + 1, x.z * by + 1, x.w * by + 1);
}
}  // namespace after

PAIR(streaming_passes, "streaming-passes") {
  float* data = run.output<float>(kCount, 0);
  run.before([=] {
    for (int pass = 0; pass < kPasses; ++pass)
      before::damp<<<kCount / 4 / kThreads, kThreads>>>(reinterpret_cast<float4*>(data), 0.5f);
  });
  run.after([=] {
    for (size_t first = 0; first < kCount; first += kPiece) {
      for (int pass = 0; pass < kPasses; ++pass)
        after::damp<<<kPiece / 4 / kThreads, kThreads>>>(reinterpret_cast<float4*>(data + first), 0.5f);
    }
  });
  run.check(data, kCount, [](size_t) { return 1.875; }, 0);
}
