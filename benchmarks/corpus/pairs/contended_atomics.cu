// Planted: every thread adds to one of eight counters in device memory.
#include "../corpus.cuh"

constexpr size_t kCount = 1 << 25;
constexpr int kBins = 8;

namespace before {
__global__ void histogram(const uint32_t* __restrict__ in, uint32_t* __restrict__ bins) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < kCount; i += step)
    atomicAdd(&bins[in[i] % kBins], 1u);
}
}  // namespace before

namespace after {
__global__ void histogram(const uint32_t* __restrict__ in, uint32_t* __restrict__ bins) {
  __shared__ uint32_t own[kBins][256];
  for (int bin = 0; bin < kBins; ++bin) own[bin][threadIdx.x] = 0;
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < kCount; i += step)
    ++own[in[i] % kBins][threadIdx.x];
  __syncthreads();
  const int bin = threadIdx.x / 32;
  uint32_t sum = 0;
  for (int at = threadIdx.x % 32; at < 256; at += 32) sum += own[bin][at];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&bins[bin], sum);
}
}  // namespace after

PAIR(contended_atomics, "contended-atomics") {
  const uint32_t* in = run.input<uint32_t, corpus::bits>(kCount);
  uint32_t* bins = run.output<uint32_t>(kBins, 0);
  run.before([=] { before::histogram<<<132 * 8, 256>>>(in, bins); });
  run.after([=] { after::histogram<<<132 * 8, 256>>>(in, bins); });
  run.check(bins, kBins, [](size_t bin) {
    static std::vector<double> counts = [] {
      std::vector<double> all(kBins);
      for (size_t i = 0; i < kCount; ++i) all[corpus::bits(i) % kBins] += 1;
      return all;
    }();
    return counts[bin];
  }, 0);
}
