// The sink that builds a kernel's IR (kernel_sink.h has the interface). One sink serves one kernel
// and one thread.
#pragma once

#include "codegen/tiling/sink/kernel_sink.h"

#include <map>
#include <optional>

namespace gantry::codegen {

class BuildingSink final : public KernelSink {
public:
  /// The views of a kernel's buffer: `scalar` has single elements, the others have groups of four
  /// elements (vectorTypeOf in emitter/memory/vector_views.h). The groups of `vector` are aligned;
  /// those of skipping[i] begin i + 1 elements later.
  struct Buffer {
    mlir::Value scalar, vector;
    llvm::SmallVector<mlir::Value, 0> skipping;
  };

  /// Builds at the builder's insertion point. space: the IndexSpace of the expressions that index()
  /// and address() take. buffers: the tensor arguments, then the result. `builder` and `space` must
  /// outlive the sink.
  BuildingSink(mlir::OpBuilder &builder, mlir::Location loc, IndexSpace &space,
               llvm::ArrayRef<Buffer> buffers)
      : builder_(builder), loc_(loc), space_(space), buffers_(buffers.begin(), buffers.end()) {}

  /// Sets the array in the workgroup's shared memory that pool() returns. Call this before a kernel
  /// that uses shared memory is emitted.
  void setPool(mlir::Value pool) { pool_ = pool; }

  /// Returns how the kernel can be launched in slices, for devices that cannot bind a whole buffer.
  /// A slice is a range of steps of the outermost tile coordinate, the variable of setOutermost().
  /// Returns, for each buffer, the number n of elements by which one step of the coordinate
  /// advances: step i touches only the elements [i * n, (i + 1) * n) of the buffer. n = 0 means
  /// that every step may touch the whole buffer. Nothing else depends on the coordinate, so a slice
  /// is the same kernel on a part of each buffer. None if the kernel does not have this form. Call
  /// after the kernel was emitted.
  std::optional<llvm::SmallVector<int64_t>> slices() const;

  void count(Cost, double) override {}
  void countHoisted(double) override {}

  mlir::Value build(BuildStep step) override { return step(builder_, loc_); }
  Values clone(mlir::Operation &op,
               llvm::function_ref<mlir::Value(mlir::Value)> operandOf) override;
  mlir::Value index(const IndexExpr &expr) override;
  mlir::Value address(unsigned buffer, const IndexExpr &expr, int64_t elements) override;
  mlir::Value symbolOf(mlir::Value, mlir::Value computed) override { return computed; }

  mlir::Value loadElement(unsigned buffer, mlir::Value address) override;
  mlir::Value loadVector(unsigned buffer, mlir::Value address) override;
  void storeElement(unsigned buffer, mlir::Value value, mlir::Value address) override;
  void storeVector(unsigned buffer, mlir::Value value, mlir::Value address,
                   int64_t skipped) override;
  mlir::Value pool() override { return pool_; }

  mlir::Value shuffle(mlir::Value value, int64_t lane) override;
  mlir::Value shuffleXor(mlir::Value value, int64_t mask) override;
  void sinkShuffles() override;
  void barrier(mlir::spirv::Scope scope) override;

  void loop(const IndexExpr &trips, double rounds, Values &carried, LoopBody body) override;
  void ifTrue(mlir::Value condition, llvm::function_ref<void()> body) override;
  void ifGuard(GuardedBlocks &blocks, int32_t guard, llvm::function_ref<mlir::Value()> test,
               llvm::function_ref<void()> body) override;
  mlir::Block *block() override { return builder_.getInsertionBlock(); }
  void setOutermost(int32_t variable) override { outermost_ = variable; }

private:
  mlir::Value widened(mlir::Operation &extension, mlir::Value narrow);

  mlir::OpBuilder &builder_;
  mlir::Location loc_;
  IndexSpace &space_;
  llvm::SmallVector<Buffer> buffers_;
  mlir::Value pool_;
  llvm::SmallVector<mlir::Operation *>
      shuffles_; // Made by shuffle() since the last sinkShuffles().

  // Value numbering: the results of clone(), by operation, block and operands.
  using CloneKey = std::pair<std::pair<void *, const void *>, std::vector<const void *>>;
  std::map<CloneKey, Values> clones_;

  int32_t outermost_ = -1; // The variable of setOutermost(), or -1.
  // Whether an expression depends on outermost_ in a way that forbids slices.
  bool outermostUsed_ = false;
  std::map<unsigned, int64_t> advances_; // Elements per step of outermost_, by buffer.
};

} // namespace gantry::codegen
