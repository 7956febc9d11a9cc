// ceilings: what the device reaches in practice, a line of JSON for each resource.
//
// Every value is the median of 21 repeats by CUDA events. Memory: bytes that the instructions ask
// for, over sets that lie in the level alone. Rates: independent operations in registers, every
// scheduler filled; a fused multiply-add counts two.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>

#include "corpus.cuh"

using namespace nvcuda;

constexpr int kRepeats = 21, kThreads = 256, kSteps = 4096, kAtOnce = 8;

static int g_blocks;  // as many as fit at once

__device__ inline float4 plus(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

__device__ inline float4 load(const float4* from) {  // by L1
  float4 x;
  asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(from));
  return x;
}

__device__ inline float4 load_past_l1(const float4* from) {
  float4 x;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(from));
  return x;
}

__device__ inline void keep(float4 x, float4* out) {
  if (x.x + x.y + x.z + x.w == 12345.678f) *out = x;
}

__global__ void copy(const float4* in, float4* out) {
  const size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
  out[i] = in[i];
}

__global__ void write(float4* out) {
  out[size_t(blockIdx.x) * kThreads + threadIdx.x] = make_float4(1, 2, 3, 4);
}

// Every thread reads `rounds` times from a set of `count` elements, a stride of the grid apart.
__global__ void read_far(const float4* in, size_t count, int rounds, float4* out) {
  const size_t step = size_t(gridDim.x) * kThreads;
  float4 sum = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll 4
    for (size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) sum = plus(sum, load_past_l1(in + i));
  }
  keep(sum, out);
}

// Every block reads the same 16 kB again and again. The place is computed from `stride`, known only
// at run time: reads of places known before would be taken out of the loop.
constexpr unsigned kSet = 4 * kThreads;

__global__ void read_l1(const float4* in, unsigned stride, float4* out) {
  float4 sum = {};
  unsigned at = threadIdx.x;
#pragma unroll 4
  for (int step = 0; step < kSteps; ++step, at = (at + stride) % kSet) sum = plus(sum, load(in + at));
  keep(sum, out);
}

__global__ void read_shared(unsigned stride, float4* out) {
  __shared__ float4 tile[kSet];
  for (unsigned k = threadIdx.x; k < kSet; k += kThreads) tile[k] = make_float4(k, 1, 2, 3);
  __syncthreads();
  float4 sum = {};
  unsigned at = threadIdx.x;
#pragma unroll 4
  for (int step = 0; step < kSteps; ++step, at = (at + stride) % kSet) sum = plus(sum, tile[at]);
  keep(sum, out);
}

struct Fp32 {
  using T = float;
  static constexpr int kOperations = 2;
  static __device__ T start(int k) { return k; }
  static __device__ T step(T x, T by) { return fmaf(x, by, by); }
  static __device__ bool odd(T x) { return x == 12345.678f; }
};
struct Fp64 {
  using T = double;
  static constexpr int kOperations = 2;
  static __device__ T start(int k) { return k; }
  static __device__ T step(T x, T by) { return fma(x, by, by); }
  static __device__ bool odd(T x) { return x == 12345.678; }
};
struct Fp16 {
  using T = __half2;
  static constexpr int kOperations = 4;
  static __device__ T start(int k) { return __float2half2_rn(k * 0.01f); }
  static __device__ T step(T x, T by) { return __hfma2(x, by, by); }
  static __device__ bool odd(T x) { return __low2float(x) == 12345.678f; }
};
struct Bf16 {
  using T = __nv_bfloat162;
  static constexpr int kOperations = 4;
  static __device__ T start(int k) { return __float2bfloat162_rn(k * 0.01f); }
  static __device__ T step(T x, T by) { return __hfma2(x, by, by); }
  static __device__ bool odd(T x) { return __low2float(x) == 12345.678f; }
};
struct Int32 {
  using T = int;
  static constexpr int kOperations = 2;
  static __device__ T start(int k) { return k + 3; }
  static __device__ T step(T x, T by) { return x * by + by; }
  static __device__ bool odd(T x) { return x == 123456789; }
};

template <typename Format>
__global__ void __launch_bounds__(kThreads, 8) vector_rate(float seed, float* out) {
  typename Format::T x[kAtOnce], by = Format::start(int(seed));
#pragma unroll
  for (int k = 0; k < kAtOnce; ++k) x[k] = Format::start(threadIdx.x + k);
#pragma unroll 4
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) x[k] = Format::step(x[k], by);
  }
  for (int k = 0; k < kAtOnce; ++k)
    if (Format::odd(x[k])) *out = 1;
}

template <typename In, typename Out, int m, int n, int k>
__global__ void __launch_bounds__(kThreads) matrix_rate(float* out) {
  using Rows = wmma::row_major;
  wmma::fragment<wmma::matrix_a, m, n, k, In, Rows> a;
  wmma::fragment<wmma::matrix_b, m, n, k, In, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, m, n, k, Out> sums[4];
  for (int i = 0; i < a.num_elements; ++i) a.x[i] = 1.0f + threadIdx.x % 3;
  for (int i = 0; i < b.num_elements; ++i) b.x[i] = 1.0f - threadIdx.x % 5;
  for (auto& sum : sums) wmma::fill_fragment(sum, Out(0));
  for (int step = 0; step < kSteps; ++step) {
    for (auto& sum : sums) wmma::mma_sync(sum, a, b, sum);
  }
  for (auto& sum : sums)
    for (int i = 0; i < sum.num_elements; ++i)
      if (sum.x[i] == Out(12345)) *out = 1;
}

template <typename Launch>
void measure(const char* resource, const char* what, const char* unit, double work, Launch launch) {
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int repeat = -3; repeat < kRepeats; ++repeat) {
    CUDA_CHECK(cudaEventRecord(start));
    launch();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float elapsed = 0;
    CUDA_CHECK(cudaEventElapsedTime(&elapsed, start, stop));
    if (repeat >= 0) times.push_back(elapsed);
  }
  CUDA_CHECK(cudaGetLastError());
  std::sort(times.begin(), times.end());
  std::printf("{\"resource\": \"%s\", \"what\": \"%s\", \"unit\": \"%s\", \"value\": %.5g, \"slowest\": %.5g, \"fastest\": %.5g}\n",
              resource, what, unit, work / times[kRepeats / 2] * 1e3, work / times.back() * 1e3, work / times[0] * 1e3);
  std::fflush(stdout);
}

template <typename Format>
void vector(const char* resource, const char* unit, float* out) {
  const double work = double(g_blocks) * kThreads * kSteps * kAtOnce * Format::kOperations;
  measure(resource, "independent multiply-adds", unit, work, [=] { vector_rate<Format><<<g_blocks, kThreads>>>(1.0f, out); });
}

template <typename In, typename Out, int m, int n, int k>
void matrix(const char* resource, const char* unit, float* out) {
  const double work = double(g_blocks) * (kThreads / 32) * kSteps * 4 * 2.0 * m * n * k;
  measure(resource, "independent warp-level matrix operations", unit, work,
          [=] { matrix_rate<In, Out, m, n, k><<<g_blocks, kThreads>>>(out); });
}

int main() {
  cudaDeviceProp device;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  g_blocks = device.multiProcessorCount * 8;
  std::printf("{\"device\": \"%s\", \"multiprocessors\": %d, \"l2_bytes\": %d}\n", device.name,
              device.multiProcessorCount, device.l2CacheSize);
  const size_t large = size_t(1) << 31, in_l2 = size_t(24) << 20;
  float4 *in, *out;
  CUDA_CHECK(cudaMalloc(&in, large));
  CUDA_CHECK(cudaMalloc(&out, large));
  corpus::prepare<float, corpus::value><<<1056, 256>>>(reinterpret_cast<float*>(in), large / 4);
  const int blocks = large / 16 / kThreads;
  measure("dram", "copy", "B/s", 2.0 * large, [=] { copy<<<blocks, kThreads>>>(in, out); });
  measure("dram", "read", "B/s", large, [=] { read_far<<<g_blocks, kThreads>>>(in, large / 16, 1, out); });
  measure("dram", "write", "B/s", large, [=] { write<<<blocks, kThreads>>>(out); });
  measure("l2", "read, 24 MiB set", "B/s", 64.0 * in_l2, [=] { read_far<<<g_blocks, kThreads>>>(in, in_l2 / 16, 64, out); });
  const double asked = double(g_blocks) * kThreads * kSteps * 16;
  measure("l1", "read, 16 KiB set", "B/s", asked, [=] { read_l1<<<g_blocks, kThreads>>>(in, kThreads, out); });
  measure("shared", "read", "B/s", asked, [=] { read_shared<<<g_blocks, kThreads>>>(kThreads, out); });
  float* any = reinterpret_cast<float*>(out);
  vector<Fp32>("vector_fp32", "FLOP/s", any);
  vector<Fp64>("vector_fp64", "FLOP/s", any);
  vector<Fp16>("vector_fp16", "FLOP/s", any);
  vector<Bf16>("vector_bf16", "FLOP/s", any);
  vector<Int32>("vector_int32", "OP/s", any);
  matrix<__half, float, 16, 16, 16>("tensor_fp16", "FLOP/s", any);
  matrix<__nv_bfloat16, float, 16, 16, 16>("tensor_bf16", "FLOP/s", any);
  matrix<wmma::precision::tf32, float, 16, 16, 8>("tensor_tf32", "FLOP/s", any);
  matrix<signed char, int, 16, 16, 16>("tensor_int8", "OP/s", any);
  matrix<double, double, 8, 8, 4>("tensor_fp64", "FLOP/s", any);
  return 0;
}
