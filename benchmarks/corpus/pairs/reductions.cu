// Planted: a sum in shared memory whose active threads lie further and further apart.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 26;
constexpr int kThreads = 256;

__device__ __host__ inline uint32_t digit(uint64_t i) { return corpus::bits(i) % 8; }

namespace before {
__global__ void sum_all(const uint32_t* __restrict__ in, uint32_t* __restrict__ sum) {
  __shared__ uint32_t part[kThreads];
  part[threadIdx.x] = in[size_t(blockIdx.x) * kThreads + threadIdx.x];
  __syncthreads();
  for (unsigned apart = 1; apart < kThreads; apart *= 2) {
    if (threadIdx.x % (2 * apart) == 0) part[threadIdx.x] += part[threadIdx.x + apart];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
}  // namespace before

namespace after {
__global__ void sum_all(const uint4* __restrict__ in, uint32_t* __restrict__ sum) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  uint32_t own = 0;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < kCount / 4; i += step) {
    const uint4 four = in[i];
    own += four.x + four.y + four.z + four.w;
  }
  for (int offset = 16; offset > 0; offset /= 2) own += __shfl_down_sync(~0u, own, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, own);
}
}  // namespace after

PAIR(reduction, "reduction-naive") {
  const uint32_t* in = run.input<uint32_t, digit>(kCount);
  uint32_t* sum = run.output<uint32_t>(1, 0);
  run.before([=] { before::sum_all<<<kCount / kThreads, kThreads>>>(in, sum); });
  run.after([=] { after::sum_all<<<132 * 8, kThreads>>>(reinterpret_cast<const uint4*>(in), sum); });
  run.check(sum, 1, [](size_t) {
    uint32_t sum = 0;
    for (size_t i = 0; i < kCount; ++i) sum += digit(i);
    return double(sum);
  }, 0);
}
