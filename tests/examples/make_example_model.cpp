// Writes a model and its input (raw f32 values) for the tests of embed_c. The model computes
// chainResult(in, bias) of tests/support/test_model.h on 10 elements; element 7 of its output is
// the highest. Usage: make_example_model model.gantry input.raw
#include "tests/support/test_model.h"

#include <cstdio>

using namespace gantry;

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  test::TestModel model("example");
  std::vector<float> bias(10, 0.5f), input(10, 1.0f);
  bias[7] = 2.0f;
  test::buildChain(model, model.number(10), bias);
  const Status status = model.write(argv[1]);
  if (!status.isOk()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  std::FILE *file = std::fopen(argv[2], "wb");
  const bool written = file && std::fwrite(input.data(), 4, input.size(), file) == input.size();
  return file && std::fclose(file) == 0 && written ? 0 : 1;
}
