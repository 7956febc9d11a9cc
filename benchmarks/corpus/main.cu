// corpus list | time [PAIR ...] | profile VERSION PAIR [PAIR ...]
//
// list: the names of the pairs. time: a line of JSON for each version, median and quartiles of
// 41 repeats by CUDA events, after its result was checked. profile: one checked run outside the
// profiled range and one inside it, for `ncu --profile-from-start off`.
#include <algorithm>
#include <cstring>

#include <cuda_profiler_api.h>

#include "corpus.cuh"

namespace {

constexpr int kRepeats = 41, kWarm = 3;

std::vector<float> milliseconds(const corpus::Version& version) {
  cudaEvent_t start, stop;
  CUDA_CHECK(cudaEventCreate(&start));
  CUDA_CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int repeat = -kWarm; repeat < kRepeats; ++repeat) {
    CUDA_CHECK(cudaEventRecord(start));
    version.launch();
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float elapsed = 0;
    CUDA_CHECK(cudaEventElapsedTime(&elapsed, start, stop));
    if (repeat >= 0) times.push_back(elapsed);
  }
  std::sort(times.begin(), times.end());
  return times;
}

bool time_pair(const corpus::Pair& pair) {
  corpus::Case made;
  pair.make(made);
  bool all_right = true;
  for (const corpus::Version& version : made.versions()) {
    const bool right = made.right(version);
    const std::vector<float> times = milliseconds(version);
    std::printf(
        "{\"pair\": \"%s\", \"version\": \"%s\", \"right\": %s, \"ms\": %.6f, \"quartiles\": [%.6f, %.6f], "
        "\"repeats\": %d}\n",
        pair.name.c_str(), version.name.c_str(), right ? "true" : "false", times[kRepeats / 2],
        times[kRepeats / 4], times[3 * kRepeats / 4], kRepeats);
    std::fflush(stdout);
    all_right = all_right && right;
  }
  return all_right;
}

bool profile_pair(const corpus::Pair& pair, const std::string& name) {
  corpus::Case made;
  pair.make(made);
  bool all_right = true;
  for (const corpus::Version& version : made.versions()) {
    if (version.name != name) continue;
    all_right = all_right && made.right(version);
    CUDA_CHECK(cudaProfilerStart());
    version.launch();
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaProfilerStop());
  }
  return all_right;
}

}  // namespace

int main(int count, char** words) {
  auto& pairs = corpus::pairs();
  std::sort(pairs.begin(), pairs.end(), [](auto& a, auto& b) { return a.name < b.name; });
  const std::string verb = count > 1 ? words[1] : "list";
  const int first = verb == "profile" ? 3 : 2;
  bool all_right = true;
  for (const corpus::Pair& pair : pairs) {
    const bool named = std::any_of(words + std::min(first, count), words + count,
                                   [&](const char* word) { return pair.name == word; });
    if (count > first && !named) continue;
    if (verb == "list") {
      std::puts(pair.name.c_str());
    } else if (verb == "time") {
      all_right = time_pair(pair) && all_right;
    } else if (verb == "profile" && count > first) {
      all_right = profile_pair(pair, words[2]) && all_right;
    } else {
      std::fprintf(stderr, "corpus list | time [PAIR ...] | profile VERSION PAIR [PAIR ...]\n");
      return 2;
    }
  }
  return all_right ? 0 : 1;
}
