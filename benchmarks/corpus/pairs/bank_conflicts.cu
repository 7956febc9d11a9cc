// Planted: threads read rows of 2, 8 and 32 words of shared memory, so that 2, 8 and 32 threads meet in a bank.
#include "../corpus.cuh"

constexpr int kThreads = 256, kBlocks = 132 * 6, kRounds = 512;

// Each thread folds its row of the tile `kRounds` words long; an odd pitch spreads the rows over the banks.
template <int width, int pitch>
__device__ void fold(const float* in, float* out) {
  extern __shared__ float tile[];
  for (int i = threadIdx.x; i < kThreads * width; i += kThreads)
    tile[i / width * pitch + i % width] = in[size_t(blockIdx.x) * kThreads * width + i];
  __syncthreads();
  float sum = 0.0f;
#pragma unroll 8
  for (int round = 0; round < kRounds; ++round) {
    const int column = (round * 7 + (round >> 5)) & (width - 1);
    sum = sum * 0.5f + tile[threadIdx.x * pitch + column];
  }
  out[size_t(blockIdx.x) * kThreads + threadIdx.x] = sum;
}

namespace before {
template <int width>
__global__ void fold_rows(const float* __restrict__ in, float* __restrict__ out) { fold<width, width>(in, out); }
}  // namespace before

namespace after {
template <int width>
__global__ void fold_rows(const float* __restrict__ in, float* __restrict__ out) { fold<width, width + 1>(in, out); }
}  // namespace after

template <int width>
void make(corpus::Case& run) {
  const float* in = run.input(size_t(kBlocks) * kThreads * width);
  float* out = run.output<float>(size_t(kBlocks) * kThreads);
  constexpr int tight = kThreads * width * 4, padded = kThreads * (width + 1) * 4;
  run.before([=] { before::fold_rows<width><<<kBlocks, kThreads, tight>>>(in, out); });
  run.after([=] { after::fold_rows<width><<<kBlocks, kThreads, padded>>>(in, out); });
  run.check(out, size_t(kBlocks) * kThreads, [](size_t row) {
    double sum = 0;
    for (int round = 0; round < kRounds; ++round)
      sum = sum * 0.5 + corpus::value(row * width + ((round * 7 + (round >> 5)) & (width - 1)));
    return sum;
  }, 1e-5);
}

PAIR(two, "bank-conflicts-2") { make<2>(run); }
PAIR(eight, "bank-conflicts-8") { make<8>(run); }
PAIR(thirty_two, "bank-conflicts-32") { make<32>(run); }
