// Planted: a copy of 1, 4 and 8 bytes per thread. The copy of 16 bytes beside it has nothing planted.
#include "../corpus.cuh"

constexpr size_t kBytes = size_t(1) << 29;

__device__ __host__ inline uint32_t word(uint64_t i) { return corpus::bits(i); }

template <typename Word>
__global__ void copy(const Word* __restrict__ in, Word* __restrict__ out) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

template <typename Word>
void launch(const void* in, void* out) {
  copy<<<kBytes / sizeof(Word) / 256, 256>>>(static_cast<const Word*>(in), static_cast<Word*>(out));
}

template <typename Word>
void make(corpus::Case& run) {
  const uint32_t* in = run.input<uint32_t, word>(kBytes / 4);
  uint32_t* out = run.output<uint32_t>(kBytes / 4);
  run.before([=] { launch<Word>(in, out); });
  if (sizeof(Word) < 16) run.after([=] { launch<uint4>(in, out); });
  run.check(out, kBytes / 4, [](size_t i) { return double(word(i)); }, 0);
}

PAIR(one, "copy-1") { make<uint8_t>(run); }
PAIR(four, "copy-4") { make<uint32_t>(run); }
PAIR(eight, "copy-8") { make<uint2>(run); }
PAIR(sixteen, "copy-16") { make<uint4>(run); }
