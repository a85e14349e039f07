// TestModel: builds small artifacts without the compiler.
//
// The kernels are the shaders tests/support/kernels/*.comp. engine/plan computes the plan and
// engine/artifact writes the file.
//
//   TestModel model;
//   uint32_t x = model.input("x", ElementType::f32, {model.number(64)});
//   uint32_t y = model.apply(TestKernel::kTwice, {x}, "Twice_0");
//   model.output("y", y);
//   ASSERT_TRUE(model.write(path).isOk());
#pragma once

#include "engine/artifact/artifact.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace gantry::test {

using artifact::ElementType;

enum class TestKernel {
  kAdd,    // f32: a + b.
  kTwice,  // f32: 2 a.
  kInvert, // u8: 255 - a; needs storageBuffer8BitAccess.
};

class TestModel {
public:
  explicit TestModel(std::string name = "test");

  // These functions add an expression over dimensions (artifact::Expr) and return its index.
  uint32_t number(int64_t value);
  /// Adds a symbol that takes its value from dimension `dim` of input `input`, which may be
  /// declared later. max 0: no upper bound.
  uint32_t symbol(const std::string &name, uint32_t input, uint32_t dim, int64_t min = 1,
                  int64_t max = 0);
  uint32_t combine(artifact::ExprOp op, uint32_t lhs, uint32_t rhs);

  // These functions add a value and return its index. dims are indices of expressions.
  uint32_t input(const std::string &name, ElementType type, std::vector<uint32_t> dims);
  /// Adds a donated input, which lies in the arena.
  uint32_t donatedInput(const std::string &name, ElementType type, std::vector<uint32_t> dims);
  uint32_t constant(const std::string &name, const std::vector<float> &values);
  uint32_t fill(const std::string &name, int64_t count, float value);

  // These functions add a command and return its result, a transient with the shape of the first
  // operand.
  uint32_t apply(TestKernel kernel, std::vector<uint32_t> operands, const std::string &name);
  /// Like apply(), but the result overwrites the first operand, which must be a transient.
  uint32_t applyInPlace(TestKernel kernel, std::vector<uint32_t> operands, const std::string &name);
  uint32_t copy(uint32_t from, const std::string &name);
  /// Adds a transient that concatenates transients of rank 1 without a copy: the parts move into
  /// its slot, one after another. Each part must be a result of apply() that is alone in its slot.
  uint32_t join(const std::vector<uint32_t> &parts, const std::string &name);
  /// Makes a value an output of the program.
  void output(const std::string &name, uint32_t value);
  /// Declares a state: the input's value and an output share one buffer across runs. The state has
  /// the input's name. Without an output, runs only read the state. A command that reads the input
  /// and writes the output does so in place. capacityBytes 0: the size of the input, which must
  /// then be static.
  void state(uint32_t inputValue, std::optional<uint32_t> outputValue = std::nullopt,
             uint64_t capacityBytes = 0);
  /// Makes a constant the initial value of the state that was declared last.
  void initial(uint32_t constant);
  /// Sets the order of the state that was declared last (StatePort::order).
  void order(std::vector<uint8_t> dims) { program_.states.back()->order = std::move(dims); }

  /// Restricts the kernels of the commands that were added so far to one binding. Other kernels
  /// keep all their bindings; kInvert has none with texel buffers.
  void onlyBinding(artifact::Binding binding);

  /// Computes the lifetimes and, if the program is static, the plan and the barriers. Later calls
  /// only return the program. A test may change the program before write().
  artifact::ProgramT &finish();
  artifact::ProgramT &program() { return program_; }
  /// Calls finish() and writes the artifact.
  Status write(const std::string &path);

private:
  uint32_t addValue(const std::string &name, artifact::Storage storage, ElementType type,
                    std::vector<uint32_t> dims);
  uint32_t elements(const std::vector<uint32_t> &dims);
  uint32_t kernelIndex(TestKernel kernel);
  uint64_t startOf(uint32_t value) const;
  void addCommand(artifact::CommandT command, std::vector<uint32_t> operands, uint32_t result);

  artifact::ProgramT program_;
  std::vector<uint32_t> kernels_; // Per TestKernel.
  std::deque<std::vector<float>> constantValues_;
  std::vector<std::pair<uint32_t, size_t>> storedConstants_; // Value, index in constantValues_.
  bool finished_ = false;
};

/// Builds a chain of five commands over in[n] whose transients share the arena: t0 = 2 in, t1 = t0
/// + bias, t2 = 2 t1 (in place), t3 = t2 + t0, out = 2 t3. `dim` is the index of the expression n;
/// bias has at least n elements.
/// chainResult() computes one element of out on the host.
void buildChain(TestModel &model, uint32_t dim, const std::vector<float> &bias);
float chainResult(float in, float bias);

} // namespace gantry::test
