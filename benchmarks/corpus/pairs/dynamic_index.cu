// Planted: a private array is indexed by data, so that the compiler keeps it in local memory.
#include "../corpus.cuh"

constexpr size_t kThreads = 1 << 18;
constexpr int kBins = 16, kEach = 256;

namespace before {
__global__ void count_digits(const uint32_t* __restrict__ in, uint32_t* __restrict__ counts) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  uint32_t bins[kBins] = {};
  for (int k = 0; k < kEach; ++k) ++bins[in[k * kThreads + i] % kBins];
  for (int bin = 0; bin < kBins; ++bin) counts[bin * kThreads + i] = bins[bin];
}
}  // namespace before

namespace after {
__global__ void count_digits(const uint32_t* __restrict__ in, uint32_t* __restrict__ counts) {
  __shared__ uint32_t bins[kBins][256];
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (int bin = 0; bin < kBins; ++bin) bins[bin][threadIdx.x] = 0;
  for (int k = 0; k < kEach; ++k) ++bins[in[k * kThreads + i] % kBins][threadIdx.x];
  for (int bin = 0; bin < kBins; ++bin) counts[bin * kThreads + i] = bins[bin][threadIdx.x];
}
}  // namespace after

PAIR(dynamic_index, "dynamic-index") {
  const uint32_t* in = run.input<uint32_t, corpus::bits>(kThreads * kEach);
  uint32_t* counts = run.output<uint32_t>(kThreads * kBins);
  run.before([=] { before::count_digits<<<kThreads / 256, 256>>>(in, counts); });
  run.after([=] { after::count_digits<<<kThreads / 256, 256>>>(in, counts); });
  run.check(counts, kThreads * kBins, [](size_t at) {
    double count = 0;
    for (int k = 0; k < kEach; ++k) count += corpus::bits(k * kThreads + at % kThreads) % kBins == at / kThreads;
    return count;
  }, 0);
}
