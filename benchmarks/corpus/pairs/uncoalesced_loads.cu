// Planted: each thread walks a row of its own, so that a warp reads 32 rows at once.
#include "../corpus.cuh"

constexpr int kRows = 16384, kColumns = 4096;

namespace before {
__global__ void row_sums(const float* __restrict__ matrix, float* __restrict__ sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= kRows) return;
  float sum = 0.0f;
  for (int column = 0; column < kColumns; ++column) sum += matrix[size_t(row) * kColumns + column];
  sums[row] = sum;
}
}  // namespace before

namespace after {
__global__ void row_sums(const float* __restrict__ matrix, float* __restrict__ sums) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0.0f;
  for (int column = lane; column < kColumns; column += 32) sum += matrix[size_t(row) * kColumns + column];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (lane == 0) sums[row] = sum;
}
}  // namespace after

PAIR(uncoalesced_loads, "uncoalesced-loads") {
  const float* matrix = run.input(size_t(kRows) * kColumns);
  float* sums = run.output<float>(kRows);
  run.before([=] { before::row_sums<<<kRows / 64, 64>>>(matrix, sums); });
  run.after([=] { after::row_sums<<<kRows / 8, 256>>>(matrix, sums); });
  run.check(sums, kRows, [](size_t row) {
    double sum = 0;
    for (int column = 0; column < kColumns; ++column) sum += corpus::value(row * kColumns + column);
    return sum;
  }, 1e-4);
}
