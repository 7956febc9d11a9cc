// Planted: rows of 1,025 elements begin at any multiple of 4 bytes, so that a warp's load takes a sector more.
#include "../corpus.cuh"

constexpr size_t kRows = 65536, kColumns = 1025, kPitch = 1056;

__device__ __host__ inline float padded(uint64_t i) {
  return corpus::value(i / kPitch * kColumns + i % kPitch % kColumns);
}

template <size_t pitch>
__device__ void add_rows(const float* matrix, const float* row, float* out) {
  const size_t start = size_t(blockIdx.x) * pitch;
  for (size_t column = threadIdx.x; column < kColumns; column += blockDim.x)
    out[start + column] = matrix[start + column] + row[column];
}

namespace before {
__global__ void add_row(const float* __restrict__ matrix, const float* __restrict__ row, float* __restrict__ out) {
  add_rows<kColumns>(matrix, row, out);
}
}  // namespace before

namespace after {
__global__ void add_row(const float* __restrict__ matrix, const float* __restrict__ row, float* __restrict__ out) {
  add_rows<kPitch>(matrix, row, out);
}
}  // namespace after

PAIR(misaligned_rows, "misaligned-rows") {
  const float* tight = run.input(kRows * kColumns);
  const float* wide = run.input<float, padded>(kRows * kPitch);
  const float* row = run.input(kColumns);
  float* out = run.output<float>(kRows * kPitch, 0);
  run.before([=] { before::add_row<<<kRows, 256>>>(tight, row, out); });
  run.after([=] { after::add_row<<<kRows, 256>>>(wide, row, out); });
  run.check(out, kColumns, [](size_t i) { return double(corpus::value(i)) + corpus::value(i); }, 1e-6);
}
