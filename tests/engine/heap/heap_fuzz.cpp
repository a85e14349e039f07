// heap_fuzz [--ops N] [--seed S]: random operations on the heap beside a model (heap_model.h),
// until N are done or one is wrong. Each 100000 operations begin with a new heap. Exit 1 where one
// is wrong, with the seed that shows it.
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
      std::fprintf(stderr, "heap_fuzz: '%s': --ops N and --seed S are what there is\n", argv[i]);
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
  std::printf("%llu operations, nothing wrong\n", static_cast<unsigned long long>(ops));
  return 0;
}
