// The shared memory of a workgroup: a pool of 32-bit words in which boxes lie.
//
// engine/plan places the boxes (tile_choice.cpp): boxes that are needed at different times share
// storage. The offsets come with the tile, in the order in which boxes are taken here. A walk
// without offsets tells how many words each box needs.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

/// A box of a tensor's elements in the pool, in row-major order.
struct Box {
  llvm::SmallVector<IndexExpr> start; // Its first element in the tensor; the same for all lanes.
  llvm::SmallVector<int64_t> size;
  int64_t offset = 0; // In the pool, in words.
  IndexExpr turn{0};  // The offset of the copy that this stage uses (TileShape::buffers), in words.
};

class SharedMemory {
public:
  explicit SharedMemory(const KernelContext &context)
      : tile_(context.tile), space_(context.space), sink_(context.sink), loops_(context.loops),
        invocation_(context.invocation) {}

  /// Takes so many words and returns their offset in the pool.
  int64_t take(int64_t words);
  /// Takes the words that the result passes through, which are needed after all others.
  int64_t takeForResult(int64_t words);
  /// The words of each box that was taken.
  llvm::ArrayRef<int64_t> words() const { return words_; }
  /// Whether the last box is the result's.
  bool holdsResult() const { return holdsResult_; }

  /// Waits until all invocations of the workgroup have arrived.
  void barrier() { sink_.barrier(mlir::spirv::Scope::Workgroup); }

  /// The smallest box that holds these elements for all lanes. Returns false, and leaves the box
  /// undefined, if there is none that all lanes agree on.
  bool boundingBox(llvm::ArrayRef<llvm::SmallVector<IndexExpr>> indices, Box &box) const;
  /// The address of an element in the pool.
  IndexExpr addressIn(const Box &box, llvm::ArrayRef<IndexExpr> index);
  /// Divides the elements of a box of this size among the workgroup's invocations, in groups of
  /// `width` neighbours. Calls `body` with the coordinates, relative to the box, of the first
  /// element of each group that this invocation has.
  void forElements(llvm::ArrayRef<int64_t> size, int64_t width,
                   llvm::function_ref<void(llvm::ArrayRef<IndexExpr>)> body);

  /// Stores an element in a word. f16 and bytes take a word each, in the type that they are
  /// computed with.
  void store(const IndexExpr &address, mlir::Value value);
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
