// The shared memory of a workgroup: a pool (array) of 32-bit words that contains boxes. A box is
// the part of one tensor that is in shared memory at one time (tile_shape.h).
//
// staged_tiles.cpp plans the offsets of the boxes with engine/plan; boxes that are needed at
// different times share storage. The tile contains the offsets in the order in which the boxes are
// taken (TileShape::poolOffsets). The sizes are known only after the kernel has been generated once
// from a tile without offsets, with a CountingSink, which builds nothing; words() then returns
// them.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

/// A box: the elements of a tensor from `start` on, in row-major order in the pool.
struct Box {
  IndexList start;                 // The first element's index: equal in all invocations.
  llvm::SmallVector<int64_t> size; // The extents.
  int64_t offset = 0;              // The start of the box in the pool, in words.
  // The distance in words from `offset` to the copy of the box that this stage uses. A stage is the
  // group of reduction steps whose operands are in shared memory at one time. With several copies,
  // successive stages use them in turn (TileShape::buffers).
  IndexExpr turn{0};
};

class SharedMemory {
public:
  explicit SharedMemory(const KernelContext &context)
      : tile_(context.tile), space_(context.space), sink_(context.sink), loops_(context.loops),
        invocation_(context.invocation) {}

  /// Reserves the next box, of `words` words. Returns its offset in the pool in words, or 0 if the
  /// tile has no offsets yet.
  int64_t take(int64_t words);
  /// Like take(), for the box of the result, which is needed after all others.
  int64_t takeForResult(int64_t words);
  /// The size of each box that was taken, in words.
  llvm::ArrayRef<int64_t> words() const { return words_; }
  /// Whether the last box is that of the result.
  bool holdsResult() const { return holdsResult_; }

  /// Emits a barrier of the workgroup.
  void barrier() { sink_.barrier(mlir::spirv::Scope::Workgroup); }

  /// Computes the smallest box that contains these elements for all invocations. Returns false, and
  /// leaves the box undefined, if the distance between the indices has no constant limit or a too
  /// large one.
  bool boundingBox(llvm::ArrayRef<IndexList> indices, Box &box) const;
  /// Returns the address in the pool, in words, of the element with this index in the tensor.
  IndexExpr addressIn(const Box &box, llvm::ArrayRef<IndexExpr> index);
  /// Divides the elements of a box of this size among the workgroup's invocations, in groups of
  /// `width` neighbours. `body` emits the code for one group of this invocation; it receives the
  /// coordinates of the group's first element relative to the box. It is called once for a loop, or
  /// for each group if the rounds are few and are unrolled.
  void forElements(llvm::ArrayRef<int64_t> size, int64_t width,
                   llvm::function_ref<void(llvm::ArrayRef<IndexExpr>)> body);

  /// Stores an element in a word. An f16 is stored as f32, a byte or a boolean as a 32-bit integer.
  void store(const IndexExpr &address, mlir::Value value);
  /// Loads an element of this type from a word.
  mlir::Value load(const IndexExpr &address, mlir::Type type);

private:
  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  Loops &loops_;
  const Invocation &invocation_;
  llvm::SmallVector<int64_t> words_;
  bool holdsResult_ = false;
};

} // namespace gantry::codegen
