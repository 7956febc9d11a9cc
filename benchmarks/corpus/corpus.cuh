// Pairs of kernels, one with a planted problem and one without it: how they are made, checked and run.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#define CUDA_CHECK(call)                                                                       \
  do {                                                                                         \
    if (cudaError_t error = (call); error != cudaSuccess) {                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));      \
      std::exit(1);                                                                            \
    }                                                                                          \
  } while (0)

namespace corpus {

// The bits of input element i: the same here and on the device, so that any result can be checked.
__host__ __device__ inline uint32_t bits(uint64_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ull;
  return static_cast<uint32_t>(x >> 32);
}

// Input element i as a number in [-1, 1).
__host__ __device__ inline float value(uint64_t i) {
  return static_cast<int32_t>(bits(i)) * (1.0f / 2147483648.0f);
}

template <typename T>
using Rule = T (*)(uint64_t);

template <typename T, Rule<T> rule>
__global__ void prepare(T* data, size_t count) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) data[i] = rule(i);
}

// The launches that are run and timed together under one name.
struct Version {
  std::string name;
  std::function<void()> launch;
};

// One planted problem. A file fills one of these; `main` runs it.
class Case {
 public:
  ~Case() {
    for (void* pointer : owned_) cudaFree(pointer);
  }

  template <typename T, Rule<T> rule>
  T* input(size_t count) {
    T* data = allocate<T>(count);
    prepare<T, rule><<<1056, 256>>>(data, count);
    CUDA_CHECK(cudaGetLastError());
    return data;
  }

  float* input(size_t count) { return input<float, value>(count); }

  // Poisoned before every check: no element keeps an earlier version's result.
  template <typename T>
  T* output(size_t count, int poison = 0xff) {
    T* data = allocate<T>(count);
    outputs_.push_back({data, count * sizeof(T), poison});
    return data;
  }

  void before(std::function<void()> launch) { versions_.push_back({"before", std::move(launch)}); }
  void after(std::function<void()> launch) { versions_.push_back({"after", std::move(launch)}); }

  // Compares up to 4,096 elements, spread evenly, with a relative and absolute tolerance.
  template <typename T>
  void check(const T* data, size_t count, std::function<double(size_t)> expected, double tolerance) {
    check_ = [=] {
      std::vector<T> host(count);
      CUDA_CHECK(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
      const size_t step = count < 4096 ? 1 : count / 4096;
      for (size_t i = 0; i < count; i += step) {
        const double want = expected(i), got = static_cast<double>(host[i]);
        if (!(std::fabs(got - want) <= tolerance * (1.0 + std::fabs(want)))) {
          std::fprintf(stderr, "element %zu: %.9g instead of %.9g\n", i, got, want);
          return false;
        }
      }
      return true;
    };
  }

  const std::vector<Version>& versions() const { return versions_; }

  bool right(const Version& version) const {
    for (const Output& output : outputs_) CUDA_CHECK(cudaMemset(output.data, output.poison, output.bytes));
    version.launch();
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    return check_();
  }

 private:
  struct Output {
    void* data;
    size_t bytes;
    int poison;
  };

  template <typename T>
  T* allocate(size_t count) {
    T* data = nullptr;
    CUDA_CHECK(cudaMalloc(&data, count * sizeof(T)));
    owned_.push_back(data);
    return data;
  }

  std::vector<void*> owned_;
  std::vector<Output> outputs_;
  std::vector<Version> versions_;
  std::function<bool()> check_;
};

struct Pair {
  std::string name;
  void (*make)(Case&);
};

// Every pair of the program, in the order of their files.
inline std::vector<Pair>& pairs() {
  static std::vector<Pair> all;
  return all;
}

struct Register {
  Register(const char* name, void (*make)(Case&)) { pairs().push_back({name, make}); }
};

}  // namespace corpus

#define PAIR(symbol, name) \
  static void symbol(corpus::Case&); \
  static const corpus::Register symbol##_registered{name, symbol}; \
  static void symbol(corpus::Case& run)
