// Planted: soft-max in three kernels, each of which reads the whole matrix again.
#include "../corpus.cuh"

constexpr int kRows = 32768, kColumns = 2048, kThreads = 256, kEach = kColumns / kThreads;

template <typename Combine>
__device__ float over_block(float own, Combine combine) {
  __shared__ float parts[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) own = combine(own, __shfl_xor_sync(~0u, own, offset));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
  __syncthreads();
  own = parts[threadIdx.x % (kThreads / 32)];
  for (int offset = kThreads / 64; offset > 0; offset /= 2) own = combine(own, __shfl_xor_sync(~0u, own, offset));
  __syncthreads();
  return own;
}
__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline float plus(float a, float b) { return a + b; }

namespace before {
__global__ void row_max(const float* __restrict__ in, float* __restrict__ most) {
  const float* row = in + size_t(blockIdx.x) * kColumns;
  float own = -INFINITY;
  for (int k = 0; k < kEach; ++k) own = fmaxf(own, row[k * kThreads + threadIdx.x]);
  own = over_block(own, larger);
  if (threadIdx.x == 0) most[blockIdx.x] = own;
}
__global__ void row_sum(const float* __restrict__ in, const float* __restrict__ most, float* __restrict__ sums) {
  const float* row = in + size_t(blockIdx.x) * kColumns;
  const float top = most[blockIdx.x];
  float own = 0.0f;
  for (int k = 0; k < kEach; ++k) own += __expf(row[k * kThreads + threadIdx.x] - top);
  own = over_block(own, plus);
  if (threadIdx.x == 0) sums[blockIdx.x] = own;
}
__global__ void normalise(const float* __restrict__ in, const float* __restrict__ most,
                          const float* __restrict__ sums, float* __restrict__ out) {
  const size_t first = size_t(blockIdx.x) * kColumns + threadIdx.x;
  const float top = most[blockIdx.x], by = 1.0f / sums[blockIdx.x];
  for (int k = 0; k < kEach; ++k) out[first + k * kThreads] = __expf(in[first + k * kThreads] - top) * by;
}
}  // namespace before

namespace after {
__global__ void softmax(const float* __restrict__ in, float* __restrict__ out) {
  const size_t first = size_t(blockIdx.x) * kColumns + threadIdx.x;
  float row[kEach], top = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kEach; ++k) top = fmaxf(top, row[k] = in[first + k * kThreads]);
  top = over_block(top, larger);
#pragma unroll
  for (int k = 0; k < kEach; ++k) sum += row[k] = __expf(row[k] - top);
  const float by = 1.0f / over_block(sum, plus);
#pragma unroll
  for (int k = 0; k < kEach; ++k) out[first + k * kThreads] = row[k] * by;
}
}  // namespace after

PAIR(softmax, "softmax-passes") {
  const float* in = run.input(size_t(kRows) * kColumns);
  float* out = run.output<float>(size_t(kRows) * kColumns);
  float* most = run.output<float>(kRows);
  float* sums = run.output<float>(kRows);
  run.before([=] {
    before::row_max<<<kRows, kThreads>>>(in, most);
    before::row_sum<<<kRows, kThreads>>>(in, most, sums);
    before::normalise<<<kRows, kThreads>>>(in, most, sums, out);
  });
  run.after([=] { after::softmax<<<kRows, kThreads>>>(in, out); });
  run.check(out, size_t(kRows) * kColumns, [](size_t i) {
    const size_t row = i / kColumns;
    double sum = 0;
    for (int column = 0; column < kColumns; ++column) sum += std::exp(double(corpus::value(row * kColumns + column)));
    return std::exp(double(corpus::value(i))) / sum;
  }, 1e-5);
}
