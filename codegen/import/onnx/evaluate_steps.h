// The steps into which evaluate.cpp translates the body of a linalg.generic, and the machine that
// runs them on the host.
//
// A Machine has numbered slots. A Step reads up to three slots, computes one operation of the arith
// or math dialect, and writes one slot. Slots hold floats as double, rounded to their type after
// every step, and integers sign-extended from their width, i1 as 0 or 1.
//
// A step must be exact if its operation has the attribute gantry.exact (body.h). Exactness works
// like LLVM's poison: if such a step overflows or divides by zero, the slot that it writes becomes
// wrong. Every slot that is computed from a wrong one becomes wrong too. A wrong slot is reported
// only if it is an element of the result or an index of tensor.extract. Thread safety: a machine is
// used by one thread at a time.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

#include "mlir/IR/Operation.h"

namespace gantry::importer {

/// The type of a slot.
struct Kind {
  DType dtype = DType::kF32; // Floats only.
  int bits = 64;             // Integers only; 1 for i1.
  bool isFloat = false;
};

Kind kindOf(mlir::Type type);

/// Returns the low `bits` bits of a number, sign-extended; 0 or 1 for one bit.
inline int64_t signExtend(int64_t value, int bits) {
  if (bits == 64)
    return value;
  if (bits == 1)
    return value & 1;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - bits)) >> (64 - bits);
}

struct Machine;

struct Step {
  void (*run)(Machine &, const Step &) = nullptr;
  int out = 0, a = 0, b = 0, c = 0; // Slots; unused operands equal a.
  Kind kind;                        // Kind of the result.
  Kind operand;                     // Kind of the first operand.
  int predicate = 0;                // Predicate of a comparison, or the loop of a linalg.index.
  bool isSelect = false;
  /// Returns whether the result equals the mathematical result. Null if the step may wrap.
  bool (*isExact)(const Machine &, const Step &) = nullptr;
  char sign = 0; // The operator's character in messages ('+'); 0 for a conversion.
  // tensor.extract only: the tensor, the slots of its indices, and its strides in elements.
  const HostTensor *tensor = nullptr;
  llvm::SmallVector<int, 4> indices;
  llvm::SmallVector<int64_t, 4> strides;
};

struct Machine {
  std::vector<Number> slots;
  std::vector<Step> steps;
  llvm::SmallVector<int64_t> loops; // The current point of the iteration space.
  /// For each slot 0, or 1 + the index of the step that made it wrong. Empty if no step must be
  /// exact.
  std::vector<int> wrong;
  /// Set if an input was computed by an earlier evaluation that was inexact, or if an element of
  /// the result or an index is wrong.
  std::shared_ptr<const Inexact> inexact;

  /// Runs all steps for the current point.
  void run();
  /// Sets `inexact` if the slot is wrong. Called for indices and results.
  void check(int slot);

private:
  void trace(const Step &step);
};

using Run = void (*)(Machine &, const Step &);
/// Returns the function of a step for an operation of the arith or math dialect; null for an
/// unknown one.
Run arithmeticStep(mlir::Operation &op);
/// Sets isExact and sign of a step for an integer operation that can overflow or divide by zero.
void makeExact(mlir::Operation &op, Step &step);
/// The function of a step for a tensor.extract. Throws ImportError (bad input) if an index is out
/// of bounds.
void runExtract(Machine &machine, const Step &step);

/// Converts a Number from HostTensor::at() to the form that slots have.
inline Number toSlot(DType type, Number element) {
  if (!isFloat(type) && type != DType::kBool)
    element.i = signExtend(element.i, int(dtypeSize(type)) * 8);
  return element;
}

} // namespace gantry::importer
