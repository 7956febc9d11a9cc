// Planted: one field of eight is read from an array of structures, 4 of every 32 bytes.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 24, kFields = 8;

__device__ __host__ inline float field(uint64_t i) { return corpus::value(i * kFields); }

namespace before {
__global__ void scale_field(const float* __restrict__ records, float* __restrict__ out, float scale) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < kCount) out[i] = scale * records[i * kFields];
}
}  // namespace before

namespace after {
__global__ void scale_field(const float* __restrict__ field, float* __restrict__ out, float scale) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < kCount) out[i] = scale * field[i];
}
}  // namespace after

PAIR(strided_loads, "strided-loads") {
  const float* records = run.input(kCount * kFields);
  const float* fields = run.input<float, field>(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::scale_field<<<kCount / 256, 256>>>(records, out, 2.5f); });
  run.after([=] { after::scale_field<<<kCount / 256, 256>>>(fields, out, 2.5f); });
  run.check(out, kCount, [](size_t i) { return 2.5 * field(i); }, 1e-6);
}
