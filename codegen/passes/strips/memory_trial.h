// Measures how much memory a program would need, without changing it, for the pass `strips`.
//
// The function is cloned, and the passes that decide on storage run on the clone, which then
// consists of dispatches (kernel launches). The planner's order search (engine/plan/order/order.h)
// orders the dispatches, and the peak of live bytes in this order is the result of the trial. The
// result refers to the operators of the original function. The arena is the memory in which the
// tensors between dispatches lie.
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

/// The result of a dispatch. Tensor i is the result of dispatch i.
struct StoredTensor {
  /// The operator that computes the tensor. Null for a copy that a pass of the trial adds.
  mlir::Operation *op = nullptr;
  uint32_t storage = 0;                 // Index in MemoryTrial::storages.
  std::vector<uint32_t> reads, readers; // Indices of tensors, without repetitions.
  bool isReturned = false;              // The function returns it, or it lies in a state.
};

/// The storage of one tensor, or of several tensors that a concatenation joins in memory.
struct TensorStorage {
  uint64_t bytes = 0;            // Bytes in the arena; 0 if it lies in an output or a state.
  std::vector<uint32_t> tensors; // Indices of tensors, in ascending order.
  bool mayLeave = true;          // fit-budget may take it out of the arena between two uses.
  uint32_t first = 0, last = 0;  // It is alive from position `first` of the order to `last`.
};

/// The result of a trial.
struct MemoryTrial {
  std::vector<StoredTensor> tensors;
  std::vector<TensorStorage> storages;
  std::vector<uint32_t> order; // The dispatches in the order in which they run.
  /// One number for each position of the order. The live bytes are the sum over all storages that
  /// are alive there. The needed bytes are the same sum without the storages that may leave the
  /// arena and that the dispatch at this position does not use.
  std::vector<uint64_t> liveBytes, neededBytes;
  size_t copies = 0;       // The number of dispatches that only move elements.
  unsigned maxBuffers = 0; // The largest number of buffers that a dispatch binds.
  uint64_t peakBytes = 0;  // The largest of liveBytes.
  uint64_t neededPeak = 0; // The largest of neededBytes: no smaller budget can be met.

  /// The peak, and the bytes at each position of the order: of needed bytes if `needed` is set,
  /// otherwise of live bytes.
  uint64_t peak(bool needed) const { return needed ? neededPeak : peakBytes; }
  const std::vector<uint64_t> &bytes(bool needed) const { return needed ? neededBytes : liveBytes; }

  /// Returns the number of dispatches that run while more than `limit` bytes are needed (if
  /// `needed` is set) or alive.
  size_t countAbove(bool needed, double limit) const {
    return llvm::count_if(bytes(needed), [&](uint64_t b) { return double(b) > limit; });
  }
};

/// Runs the passes on a clone of the function, and measures the memory of the result. None if a
/// pass or the planner fails; diagnostics are dropped, because the failure will occur again in the
/// compiler's pipeline.
/// - keepOrder: the dispatches keep their order.
/// - shared: how the result counts the bytes of a storage in which several tensors lie.
/// - inBudget: the program has a budget, a limit of the arena. Like the pass order-dispatches, the
///   trial then counts a storage of several tensors as one value while it chooses the order.
///   `shared` applies to the bytes of the result in any case.
std::optional<MemoryTrial> tryMemory(mlir::func::FuncOp function, mlir::OpPassManager passes,
                                     bool keepOrder, SharedStorage shared, bool inBudget);

} // namespace gantry::codegen
