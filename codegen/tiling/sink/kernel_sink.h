// The interface through which KernelEmitter and its classes write a kernel.
//
// One walk over a dispatch serves two purposes. With a BuildingSink it builds the kernel's IR. With
// a CountingSink it counts what that IR costs, and tile_choice.h compares tiles by these counts.
// The classes that generate code do not know which sink they have, so a tile is always judged by
// the code that would be emitted for it.
//
// Each step of the walk says what it builds and what it costs:
//
//   sink.count(Cost::kArithmetic);
//   Value sum = sink.create<arith::AddFOp>(a, b);
//
// The counting sink builds nothing and gives null values. Code outside of build() must therefore
// not look into a value. Index arithmetic is free: the cost model ignores it.
//
// Threads: a sink belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/sink/point.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"

#include <map>
#include <type_traits>

namespace gantry::codegen {

/// The kinds of operations that the cost model counts.
enum class Cost : uint8_t {
  kScalarLoad,
  kVectorLoad,
  kShuffle,
  kArithmetic,
  kScalarStore,
  kVectorStore,
  kShared,   // A load or store of one word of shared memory.
  kBarrier,  // A barrier of a workgroup or of a subgroup.
  kMatrix,   // A multiplication of cooperative matrices by a whole subgroup.
  kLoopStep, // A value that a loop carries, once per round.
  kCount,
};

class KernelSink {
public:
  virtual ~KernelSink() = default;

  // ---- costs -----------------------------------------------------------------------------------

  /// Counts `times` operations of a kind, in each round of the loops around.
  virtual void count(Cost kind, double times = 1) = 0;
  /// Counts arithmetic whose loops are not those around, because it will be hoisted. `times`
  /// includes the rounds of its loops.
  virtual void countHoisted(double times) = 0;

  // ---- operations ------------------------------------------------------------------------------

  using BuildStep = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location)>;
  /// Runs the step and returns its value. The counting sink skips it.
  virtual mlir::Value build(BuildStep step) = 0;
  /// Builds one operation. Returns its result, or null if it has none.
  template <typename Op, typename... Args> mlir::Value create(Args &&...args) {
    return build([&](mlir::OpBuilder &builder, mlir::Location loc) -> mlir::Value {
      auto op = builder.create<Op>(loc, std::forward<Args>(args)...);
      if constexpr (Op::template hasTrait<mlir::OpTrait::OneResult>())
        return op->getResult(0);
      else
        return {};
    });
  }
  /// Clones an operation. Equal clones within one block are one operation. operandOf: the value
  /// that stands for an operand.
  virtual Values clone(mlir::Operation &op,
                       llvm::function_ref<mlir::Value(mlir::Value)> operandOf) = 0;

  /// Materialises an expression as arith operations on index.
  virtual mlir::Value index(const IndexExpr &expr) = 0;
  /// Materialises an address in a buffer, which counts groups of so many elements.
  virtual mlir::Value address(unsigned buffer, const IndexExpr &expr, int64_t elements) = 0;
  /// The value under which an index that a loop body computes is one variable. inBody: the value in
  /// the body; computed: the value that stands for it at one point. The counting sink takes all
  /// points as one, because it has no values to tell them apart.
  virtual mlir::Value symbolOf(mlir::Value inBody, mlir::Value computed) = 0;

  // ---- memory ----------------------------------------------------------------------------------

  // A buffer is a tensor argument of the kernel, in order; the last one is the result. Each has a
  // view of single elements and a view of aligned groups of four (vec4, or a word of four bytes).
  virtual mlir::Value loadElement(unsigned buffer, mlir::Value address) = 0;
  virtual mlir::Value loadVector(unsigned buffer, mlir::Value address) = 0;
  virtual void storeElement(unsigned buffer, mlir::Value value, mlir::Value address) = 0;
  virtual void storeVector(unsigned buffer, mlir::Value value, mlir::Value address) = 0;
  /// The workgroup's shared memory.
  virtual mlir::Value pool() = 0;

  // ---- lanes -----------------------------------------------------------------------------------

  /// The value that one lane of the subgroup has, in all lanes.
  virtual mlir::Value shuffle(mlir::Value value, int64_t lane) = 0;
  /// The value of the lane whose number differs in the bits of `mask`.
  virtual mlir::Value shuffleXor(mlir::Value value, int64_t mask) = 0;
  /// Moves the shuffles since the last call to their first use, which shortens the time that their
  /// results wait in registers.
  virtual void sinkShuffles() = 0;
  virtual void barrier(mlir::spirv::Scope scope) = 0;

  // ---- control flow ----------------------------------------------------------------------------

  using LoopBody = llvm::function_ref<void(mlir::Value counter, Values &carried)>;
  /// A loop of `trips` rounds. `carried` goes through the body and holds the results after it.
  /// rounds: how often the cost model takes the body to run.
  virtual void loop(const IndexExpr &trips, double rounds, Values &carried, LoopBody body) = 0;
  /// Code that runs where the condition holds.
  virtual void ifTrue(mlir::Value condition, llvm::function_ref<void()> body) = 0;
  /// Like ifTrue, except that bodies of the same guard share one scf.if, which `blocks` holds.
  using GuardedBlocks = std::map<int32_t, mlir::Block *>;
  virtual void ifGuard(GuardedBlocks &blocks, int32_t guard, llvm::function_ref<mlir::Value()> test,
                       llvm::function_ref<void()> body) = 0;
  /// The block that operations are added to, or null.
  virtual mlir::Block *block() = 0;

  /// Tells which variable counts the kernel's outermost tiles.
  virtual void setOutermost(int32_t variable) = 0;

  // ---- failure ---------------------------------------------------------------------------------

  /// Notes an operation that kernels cannot compute. The walk may go on; its result is useless.
  mlir::Value fail(mlir::Operation *op) {
    if (!unsupported_)
      unsupported_ = op;
    return {};
  }
  /// The first operation that fail() was called with, or null.
  mlir::Operation *unsupported() const { return unsupported_; }

private:
  mlir::Operation *unsupported_ = nullptr;
};

/// Divides a linear index into coordinates of a grid with these extents, in row-major order. Each
/// is a variable of its own: the range of a variable is known exactly, that of a quotient or a
/// remainder only roughly.
llvm::SmallVector<IndexExpr> delinearize(IndexSpace &space, KernelSink &sink,
                                         const IndexExpr &linear, llvm::ArrayRef<int64_t> extents);

/// The number of points of a grid with these extents: their product, 1 for an empty list.
int64_t volumeOf(llvm::ArrayRef<int64_t> extents);

} // namespace gantry::codegen
