// Planted: a transposition that writes down columns; one whose tile puts a column into one bank.
#include "../corpus.cuh"

constexpr int kSide = 8192, kTile = 32, kRowsOfThreads = 8;
const dim3 kGrid(kSide / kTile, kSide / kTile), kBlock(kTile, kRowsOfThreads);

__device__ inline void through_tile(const float* in, float* out, float* tile, int pitch, bool swizzled) {
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < kTile; y += kRowsOfThreads)
    tile[y * pitch + (swizzled ? x ^ y : x)] = in[size_t(blockIdx.y * kTile + y) * kSide + blockIdx.x * kTile + x];
  __syncthreads();
  for (int y = threadIdx.y; y < kTile; y += kRowsOfThreads)
    out[size_t(blockIdx.x * kTile + y) * kSide + blockIdx.y * kTile + x] = tile[x * pitch + (swizzled ? x ^ y : y)];
}

namespace naive {
__global__ void transpose(const float* __restrict__ in, float* __restrict__ out) {
  const int column = blockIdx.x * kTile + threadIdx.x;
  for (int y = threadIdx.y; y < kTile; y += kRowsOfThreads) {
    const int row = blockIdx.y * kTile + y;
    out[size_t(column) * kSide + row] = in[size_t(row) * kSide + column];
  }
}
}  // namespace naive

namespace tiled {
__global__ void transpose(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[kTile * kTile];
  through_tile(in, out, tile, kTile, false);
}
}  // namespace tiled

namespace padded {
__global__ void transpose(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[kTile * (kTile + 1)];
  through_tile(in, out, tile, kTile + 1, false);
}
}  // namespace padded

namespace swizzled {
__global__ void transpose(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float tile[kTile * kTile];
  through_tile(in, out, tile, kTile, true);
}
}  // namespace swizzled

using Kernel = void (*)(const float*, float*);

static void make(corpus::Case& run, Kernel first, Kernel second) {
  const float* in = run.input(size_t(kSide) * kSide);
  float* out = run.output<float>(size_t(kSide) * kSide);
  run.before([=] { first<<<kGrid, kBlock>>>(in, out); });
  run.after([=] { second<<<kGrid, kBlock>>>(in, out); });
  run.check(out, size_t(kSide) * kSide, [](size_t i) {
    return double(corpus::value(i % kSide * kSide + i / kSide));
  }, 0);
}

PAIR(from_naive, "transpose-naive") { make(run, naive::transpose, padded::transpose); }
PAIR(from_tiled, "transpose-conflicts") { make(run, tiled::transpose, swizzled::transpose); }
