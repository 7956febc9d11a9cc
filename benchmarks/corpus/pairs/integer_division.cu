// Planted: 64-bit divisions by numbers known only at run time find the place of each element.
#include "../corpus.cuh"

constexpr int kPlanes = 64, kRows = 1024, kColumns = 1024;
constexpr size_t kCount = size_t(kPlanes) * kRows * kColumns;

// out[row][plane][column] = in[plane][row][column]
namespace before {
__global__ void swap_planes(const float* __restrict__ in, float* __restrict__ out, int64_t planes, int64_t rows,
                            int64_t columns) {
  const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t column = i % columns, plane = i / columns % planes, row = i / columns / planes;
  out[i] = in[(plane * rows + row) * columns + column];
}
}  // namespace before

namespace after {
__global__ void swap_planes(const float* __restrict__ in, float* __restrict__ out, int planes, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.y, row = blockIdx.z;
  out[(size_t(row) * planes + plane) * columns + column] = in[(size_t(plane) * rows + row) * columns + column];
}
}  // namespace after

PAIR(integer_division, "integer-division") {
  const float* in = run.input(kCount);
  float* out = run.output<float>(kCount);
  run.before([=] { before::swap_planes<<<kCount / 256, 256>>>(in, out, kPlanes, kRows, kColumns); });
  run.after([=] {
    after::swap_planes<<<dim3(kColumns / 256, kPlanes, kRows), 256>>>(in, out, kPlanes, kRows, kColumns);
  });
  run.check(out, kCount, [](size_t i) {
    const size_t column = i % kColumns, plane = i / kColumns % kPlanes, row = i / kColumns / kPlanes;
    return double(corpus::value((plane * kRows + row) * kColumns + column));
  }, 0);
}
