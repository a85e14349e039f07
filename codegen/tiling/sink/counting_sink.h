// The sink that counts the operations of a kernel and builds nothing (kernel_sink.h has the
// interface). The values that it returns are null. One sink serves one kernel and one thread.
#pragma once

#include "codegen/tiling/sink/kernel_sink.h"

#include <array>

namespace gantry::codegen {

/// The numbers of operations, by kind.
struct OperationCounts {
  std::array<double, static_cast<size_t>(Cost::kCount)> byKind{};
  double operator[](Cost kind) const { return byKind[static_cast<size_t>(kind)]; }
  double &operator[](Cost kind) { return byKind[static_cast<size_t>(kind)]; }
};

class CountingSink final : public KernelSink {
public:
  /// The operations that one invocation executes, with the assumed number of rounds of each loop.
  const OperationCounts &counts() const { return counts_; }
  /// The operations in the kernel's code: those of a loop's body count once. Arithmetic that was
  /// passed to countHoisted() is left out. A vector access in which each invocation touches a cache
  /// line of its own counts as two (kScatteredCost in emitter/memory/vector_groups.h).
  const OperationCounts &emitted() const { return emitted_; }

  void count(Cost kind, double times) override {
    counts_[kind] += rounds_ * times;
    emitted_[kind] += times;
  }
  void countHoisted(double times) override { counts_[Cost::kArithmetic] += times; }

  mlir::Value build(BuildStep) override { return {}; }
  Values clone(mlir::Operation &op, llvm::function_ref<mlir::Value(mlir::Value)>) override {
    return Values(op.getNumResults());
  }
  mlir::Value index(const IndexExpr &) override { return {}; }
  mlir::Value address(unsigned, const IndexExpr &, int64_t) override { return {}; }
  mlir::Value symbolOf(mlir::Value inBody, mlir::Value) override { return inBody; }

  mlir::Value loadElement(unsigned, mlir::Value) override { return {}; }
  mlir::Value loadVector(unsigned, mlir::Value) override { return {}; }
  void storeElement(unsigned, mlir::Value, mlir::Value) override {}
  void storeVector(unsigned, mlir::Value, mlir::Value, int64_t) override {}
  mlir::Value pool() override { return {}; }

  mlir::Value shuffle(mlir::Value, int64_t) override { return {}; }
  mlir::Value shuffleXor(mlir::Value, int64_t) override { return {}; }
  void sinkShuffles() override {}
  void barrier(mlir::spirv::Scope) override { count(Cost::kBarrier, 1); }

  void loop(const IndexExpr &, double rounds, Values &carried, LoopBody body) override {
    const double outer = rounds_;
    rounds_ *= rounds;
    count(Cost::kLoopStep, static_cast<double>(carried.size()));
    body({}, carried);
    rounds_ = outer;
  }
  void ifTrue(mlir::Value, llvm::function_ref<void()> body) override { body(); }
  void ifGuard(GuardedBlocks &, int32_t, llvm::function_ref<mlir::Value()>,
               llvm::function_ref<void()> body) override {
    body();
  }
  mlir::Block *block() override { return nullptr; }
  void setOutermost(int32_t) override {}

private:
  OperationCounts counts_, emitted_;
  double rounds_ = 1; // The number of times that the current loop body runs.
};

} // namespace gantry::codegen
