// The interface through which KernelEmitter (emitter/kernel_emitter.h) and the classes that it uses
// write a kernel.
//
// The same code generates a kernel and predicts its cost. With a BuildingSink it builds the
// kernel's IR. With a CountingSink it counts the operations of that IR, and tile_cost.h predicts a
// cost from the counts. The classes that generate code do not know which sink they have. A tile,
// the part of the result that an invocation, subgroup or workgroup computes (tile_shape.h), is
// therefore always judged by the code that would be emitted for it.
//
// The generating code states each operation that it builds, and the operation's cost:
//
//   sink.count(Cost::kArithmetic);
//   Value sum = sink.create<arith::AddFOp>(a, b);
//
// The counting sink builds nothing and returns null values. Code outside of build() must therefore
// not use the members of a value. barrier() and loop() count their own cost. The cost model treats
// the computation of addresses as free, except for clamping and divisions.
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

  /// Counts `times` operations of a kind for each round of the enclosing loops.
  virtual void count(Cost kind, double times = 1) = 0;
  /// Counts arithmetic that later passes hoist out of enclosing loops. `times` is the total number
  /// of operations; it includes the rounds of the loops that the arithmetic stays in.
  virtual void countHoisted(double times) = 0;

  // ---- operations ------------------------------------------------------------------------------

  using BuildStep = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location)>;
  /// Runs the step and returns its value. The counting sink does not run it and returns null.
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
  /// Clones an operation and returns its results. Equal clones within one block are one operation.
  /// operandOf: returns the value that replaces an operand.
  virtual Values clone(mlir::Operation &op,
                       llvm::function_ref<mlir::Value(mlir::Value)> operandOf) = 0;

  /// Materialises an expression as arith operations on values of type index.
  virtual mlir::Value index(const IndexExpr &expr) = 0;
  /// Materialises an address in one of a buffer's views (see "memory" below). An entry of the view
  /// has `elements` elements; `expr` is the number of the entry.
  virtual mlir::Value address(unsigned buffer, const IndexExpr &expr, int64_t elements) = 0;
  /// If the body of a linalg.generic computes an index from data, as a gather does, index
  /// expressions use a variable for it. Returns the value that identifies this variable, so that
  /// the same index gets the same variable again. inBody: the value in the body of the operation.
  /// computed: the clone of inBody that was emitted for one element of the result. The counting
  /// sink has no clones, so it returns inBody, and all elements share one variable.
  virtual mlir::Value symbolOf(mlir::Value inBody, mlir::Value computed) = 0;

  // ---- memory ----------------------------------------------------------------------------------

  // Buffers are numbered: the tensor arguments of the kernel in order, then the result. Each buffer
  // has a view of single elements and a view of aligned groups of four elements (vec4, or a 32-bit
  // word of four bytes). If a kernel reads its operands through texel buffers, its result has three
  // more views of groups, which begin one to three elements later. An address is the number of an
  // entry of the view: of an element or of a group.
  virtual mlir::Value loadElement(unsigned buffer, mlir::Value address) = 0;
  virtual mlir::Value loadVector(unsigned buffer, mlir::Value address) = 0;
  virtual void storeElement(unsigned buffer, mlir::Value value, mlir::Value address) = 0;
  /// skipped: the number of elements of the buffer, from 0 to 3, before the view's first vector.
  /// A number other than 0 is allowed only for the result of a kernel that reads texels.
  virtual void storeVector(unsigned buffer, mlir::Value value, mlir::Value address,
                           int64_t skipped) = 0;
  /// The array that is the workgroup's shared memory.
  virtual mlir::Value pool() = 0;

  // ---- lanes -----------------------------------------------------------------------------------

  /// Returns, in all lanes (the invocations of a subgroup), the value that lane number `lane` has.
  virtual mlir::Value shuffle(mlir::Value value, int64_t lane) = 0;
  /// Returns the value of the lane whose number is this lane's number XOR `mask`.
  virtual mlir::Value shuffleXor(mlir::Value value, int64_t mask) = 0;
  /// Moves each shuffle that was made since the last call of this function to just before the first
  /// use of its result. That shortens the live ranges of registers.
  virtual void sinkShuffles() = 0;
  /// Waits until all invocations of the scope have arrived, and makes their stores to shared memory
  /// visible to each other.
  virtual void barrier(mlir::spirv::Scope scope) = 0;

  // ---- control flow ----------------------------------------------------------------------------

  using LoopBody = llvm::function_ref<void(mlir::Value counter, Values &carried)>;
  /// Makes a loop of `trips` rounds. The body receives the carried values of a round and replaces
  /// them by those of the next; afterwards `carried` holds the loop's results. rounds: the number
  /// of rounds that the cost model assumes.
  virtual void loop(const IndexExpr &trips, double rounds, Values &carried, LoopBody body) = 0;
  /// Makes code that runs if the condition holds.
  virtual void ifTrue(mlir::Value condition, llvm::function_ref<void()> body) = 0;
  /// Like ifTrue, for a guard, which is the number of a set of conditions (emitter/guards.h).
  /// `test` emits the test of these conditions. `blocks` maps each guard to the block of its
  /// scf.if: all bodies with the same guard and the same map share one scf.if.
  using GuardedBlocks = std::map<int32_t, mlir::Block *>;
  virtual void ifGuard(GuardedBlocks &blocks, int32_t guard, llvm::function_ref<mlir::Value()> test,
                       llvm::function_ref<void()> body) = 0;
  /// Returns the block that operations are added to; null when counting.
  virtual mlir::Block *block() = 0;

  /// Tells the sink the index variable of the tile's position along one dimension of the result:
  /// the outermost one that is divided into several tiles. Launches of the kernel can be cut along
  /// this dimension (BuildingSink::slices).
  virtual void setOutermost(int32_t variable) = 0;

  // ---- failure ---------------------------------------------------------------------------------

  /// Records an operation that kernels cannot compute, and returns null. Code generation may go on,
  /// but its result must not be used.
  mlir::Value fail(mlir::Operation *op) {
    if (!unsupported_)
      unsupported_ = op;
    return {};
  }
  /// Returns the first operation that fail() was called with, or null.
  mlir::Operation *unsupported() const { return unsupported_; }

private:
  mlir::Operation *unsupported_ = nullptr;
};

/// Divides a linear index into the coordinates of an array with these extents, in row-major order.
/// Each coordinate that can differ from 0 is a new variable, because the range of a variable is
/// known exactly and the range of a quotient or a remainder only roughly.
IndexList delinearize(IndexSpace &space, KernelSink &sink, const IndexExpr &linear,
                      llvm::ArrayRef<int64_t> extents);

/// Returns the product of the extents, 1 for an empty list.
int64_t volumeOf(llvm::ArrayRef<int64_t> extents);

} // namespace gantry::codegen
