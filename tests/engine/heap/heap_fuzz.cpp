// heap_fuzz [--ops N] [--seed S]: runs N random operations on a heap and compares it with a model
// (heap_model.h). A new heap and the next seed begin after every 100000 operations. At the first
// error it prints the seed and the operation, and exits with 1.
#include "tests/engine/heap/heap_model.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  uint64_t ops = 1000000;
  uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--ops") == 0 && i + 1 < argc) {
      ops = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else {
      std::fprintf(stderr, "heap_fuzz: unknown or incomplete option '%s'; use --ops N, --seed S\n",
                   argv[i]);
      return 2;
    }
  }
  constexpr uint64_t kRound = 100000;
  for (uint64_t done = 0; done < ops; done += kRound, ++seed) {
    gantry::heap::HeapModel model(seed);
    std::string wrong;
    uint64_t op = 0;
    while (op < kRound && done + op < ops && (wrong = model.step()).empty())
      ++op;
    if (wrong.empty())
      wrong = model.finish();
    if (!wrong.empty()) {
      std::printf("seed %llu, operation %llu: %s\n", static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(op), wrong.c_str());
      return 1;
    }
  }
  std::printf("%llu operations without an error\n", static_cast<unsigned long long>(ops));
  return 0;
}
