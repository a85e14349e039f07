// Measures how much memory a program would need, without changing it, for the pass strips.
//
// The function is cloned, the passes that decide on storage run on the clone, and the planner's
// order search finds the peak of live bytes. The result refers to the operators of the original.
//
// Thread safety: one trial at a time in one MLIR context.
#pragma once

#include "codegen/passes/dispatch_graph.h"
#include "engine/plan/order/order.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

#include <optional>
#include <vector>

namespace gantry::codegen {

/// A tensor that the program stores in the arena; tensor i is the result of dispatch i.
struct StoredTensor {
  /// The operator that computes the tensor. Null for a copy that a pass of the trial adds.
  mlir::Operation *op = nullptr;
  uint32_t storage = 0;                 // Index in MemoryTrial::storages.
  std::vector<uint32_t> reads, readers; // Tensors, without repetitions.
  bool isReturned = false;              // The function returns it, so it is not in the arena.
};

/// Tensors that lie in the same memory: one, or the parts of a concatenation.
struct TensorStorage {
  uint64_t bytes = 0;            // 0 if the function returns it.
  std::vector<uint32_t> tensors; // In ascending order.
  bool mayLeave = true;          // A budget may move it out of the arena between two uses.
  uint32_t first = 0, last = 0;  // The positions between which it is alive, inclusive.
};

struct MemoryTrial {
  std::vector<StoredTensor> tensors;
  std::vector<TensorStorage> storages;
  std::vector<uint32_t> order; // The dispatches in the order in which they run.
  /// For each position in the order, the bytes of the storages that are alive; and the smallest
  /// number of bytes if every tensor left the arena between its uses.
  std::vector<uint64_t> liveBytes, neededBytes;
  size_t copies = 0;       // The number of dispatches that only move elements.
  unsigned maxBuffers = 0; // The largest number of buffers that a dispatch binds.
  uint64_t peakBytes = 0;  // The largest of liveBytes.
  uint64_t neededPeak = 0; // The largest of neededBytes: no smaller budget can be met.

  /// The peak and the bytes along the order: those needed, or those alive.
  uint64_t peak(bool needed) const { return needed ? neededPeak : peakBytes; }
  const std::vector<uint64_t> &bytes(bool needed) const { return needed ? neededBytes : liveBytes; }

  /// Returns the number of dispatches that run while more than `limit` bytes are alive or needed.
  size_t countAbove(bool needed, double limit) const {
    return llvm::count_if(bytes(needed), [&](uint64_t b) { return double(b) > limit; });
  }
};

/// Runs the passes on a clone of the function. None if a pass fails; its diagnostics are dropped,
/// because the pass will fail again in the pipeline.
/// - keepOrder: the dispatches keep their order.
/// - shared: how storages of several tensors count.
/// - inBudget: for the order, such storages count as a whole, as in order-dispatches.
std::optional<MemoryTrial> tryMemory(mlir::func::FuncOp function, mlir::OpPassManager passes,
                                     bool keepOrder, SharedStorage shared, bool inBudget);

} // namespace gantry::codegen
