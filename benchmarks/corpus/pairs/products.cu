// Planted: matrix products without a tile in shared memory, without results in registers, without tensor cores.
#include <cuda_fp16.h>
#include <mma.h>

#include "../corpus.cuh"

constexpr int kSide = 4096;
constexpr size_t kCount = size_t(kSide) * kSide;

__device__ __host__ inline __half half_value(uint64_t i) { return __float2half(corpus::value(i)); }

template <typename T, int tile>
__device__ void tiled_product(const T* a, const T* b, float* c) {
  __shared__ T left[tile][tile], right[tile][tile];
  const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < kSide; k += tile) {
    left[threadIdx.y][threadIdx.x] = a[size_t(row) * kSide + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[size_t(k + threadIdx.y) * kSide + column];
    __syncthreads();
    for (int inner = 0; inner < tile; ++inner)
      sum += float(left[threadIdx.y][inner]) * float(right[inner][threadIdx.x]);
    __syncthreads();
  }
  c[size_t(row) * kSide + column] = sum;
}

namespace naive {
__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < kSide; ++k) sum += a[size_t(row) * kSide + k] * b[size_t(k) * kSide + column];
  c[size_t(row) * kSide + column] = sum;
}
}  // namespace naive

namespace tiled {
__global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c) {
  tiled_product<float, 32>(a, b, c);
}
__global__ void matmul_half(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c) {
  tiled_product<__half, 32>(a, b, c);
}
}  // namespace tiled

namespace registers {
constexpr int kTile = 128, kDepth = 8, kEach = 8, kThreads = 256;

// 128 x 128 results per block, 8 x 8 per thread; loads and stores of 16 bytes.
__global__ void __launch_bounds__(kThreads) matmul(const float* __restrict__ a, const float* __restrict__ b,
                                                   float* __restrict__ c) {
  __shared__ float left[kDepth][kTile + 4], right[kDepth][kTile];
  const int thread = threadIdx.x, x = thread % 16, y = thread / 16;
  const float* a_tile = a + size_t(blockIdx.y) * kTile * kSide;
  const float* b_tile = b + size_t(blockIdx.x) * kTile;
  float sums[kEach][kEach] = {};
  for (int k = 0; k < kSide; k += kDepth) {
    const float4 four = *reinterpret_cast<const float4*>(&a_tile[size_t(thread / 2) * kSide + k + thread % 2 * 4]);
    const int at = thread % 2 * 4;
    left[at][thread / 2] = four.x, left[at + 1][thread / 2] = four.y;
    left[at + 2][thread / 2] = four.z, left[at + 3][thread / 2] = four.w;
    *reinterpret_cast<float4*>(&right[thread / 32][thread % 32 * 4]) =
        *reinterpret_cast<const float4*>(&b_tile[size_t(k + thread / 32) * kSide + thread % 32 * 4]);
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < kDepth; ++inner) {
      float from_left[kEach], from_right[kEach];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<float4*>(&from_left[half * 4]) =
            *reinterpret_cast<const float4*>(&left[inner][half * 64 + y * 4]);
        *reinterpret_cast<float4*>(&from_right[half * 4]) =
            *reinterpret_cast<const float4*>(&right[inner][half * 64 + x * 4]);
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sums[i][j] = fmaf(from_left[i], from_right[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const size_t row = size_t(blockIdx.y) * kTile + i / 4 * 64 + y * 4 + i % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<float4*>(&c[row * kSide + blockIdx.x * kTile + half * 64 + x * 4]) =
          *reinterpret_cast<const float4*>(&sums[i][half * 4]);
  }
}
}  // namespace registers

namespace warp_matrix {
using namespace nvcuda;
constexpr int kTile = 128, kDepth = 32, kThreads = 256, kPad = 8;

// 128 x 128 results per block of eight warps, 64 x 32 per warp, by the matrix operations of one warp.
__global__ void __launch_bounds__(kThreads) matmul_half(const __half* __restrict__ a, const __half* __restrict__ b,
                                                        float* __restrict__ c) {
  __shared__ __align__(16) __half left[kTile][kDepth + kPad], right[kDepth][kTile + kPad];
  const int thread = threadIdx.x, warp = thread / 32, warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
  for (auto& row : sums)
    for (auto& sum : row) wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < kSide; k += kDepth) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
      const int at = thread + part * kThreads;
      *reinterpret_cast<uint4*>(&left[at / 4][at % 4 * 8]) = *reinterpret_cast<const uint4*>(
          &a[(size_t(blockIdx.y) * kTile + at / 4) * kSide + k + at % 4 * 8]);
      *reinterpret_cast<uint4*>(&right[at / 16][at % 16 * 8]) = *reinterpret_cast<const uint4*>(
          &b[size_t(k + at / 16) * kSide + blockIdx.x * kTile + at % 16 * 8]);
    }
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < kDepth; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> rows[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> columns[2];
      for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(rows[i], &left[warp_row + i * 16][inner], kDepth + kPad);
      for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(columns[j], &right[inner][warp_column + j * 16], kTile + kPad);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], rows[i], columns[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) {
      const size_t row = size_t(blockIdx.y) * kTile + warp_row + i * 16;
      wmma::store_matrix_sync(&c[row * kSide + blockIdx.x * kTile + warp_column + j * 16], sums[i][j], kSide,
                              wmma::mem_row_major);
    }
  }
}
}  // namespace warp_matrix

template <typename T>
double dot(size_t at, corpus::Rule<T> rule) {
  double sum = 0;
  for (size_t k = 0; k < kSide; ++k)
    sum += double(float(rule(at / kSide * kSide + k))) * double(float(rule(kCount + k * kSide + at % kSide)));
  return sum;
}

// Both operands come from one input, so that the second continues the first.
template <typename T, corpus::Rule<T> rule>
void make(corpus::Case& run, std::function<void(const T*, const T*, float*)> first,
          std::function<void(const T*, const T*, float*)> second) {
  const T* a = run.input<T, rule>(2 * kCount);
  float* c = run.output<float>(kCount);
  run.before([=] { first(a, a + kCount, c); });
  if (second) run.after([=] { second(a, a + kCount, c); });
  run.check(c, kCount, [](size_t at) { return dot<T>(at, rule); }, 1e-3);
}

const dim3 kSmall(kSide / 32, kSide / 32), kLarge(kSide / 128, kSide / 128), kSquare(32, 32);

static void run_naive(const float* a, const float* b, float* c) { naive::matmul<<<kSmall, kSquare>>>(a, b, c); }
static void run_tiled(const float* a, const float* b, float* c) { tiled::matmul<<<kSmall, kSquare>>>(a, b, c); }
static void run_registers(const float* a, const float* b, float* c) { registers::matmul<<<kLarge, 256>>>(a, b, c); }
static void run_half(const __half* a, const __half* b, float* c) { tiled::matmul_half<<<kSmall, kSquare>>>(a, b, c); }
static void run_warp(const __half* a, const __half* b, float* c) { warp_matrix::matmul_half<<<kLarge, 256>>>(a, b, c); }

PAIR(from_naive, "product-naive") { make<float, corpus::value>(run, run_naive, run_tiled); }
PAIR(from_tiled, "product-tiled") { make<float, corpus::value>(run, run_tiled, run_registers); }
PAIR(from_vector, "product-without-tensor") { make<__half, half_value>(run, run_half, run_warp); }
PAIR(from_warp, "product-by-warps") { make<__half, half_value>(run, run_warp, nullptr); }
