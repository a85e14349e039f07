// Emits the loads and stores of a kernel's buffers.
//
// Addresses are compared as expressions. An element that several points share is loaded once, and
// an aligned group of four neighbours is one vector access: a vec4, or a 32-bit word of four bytes.
// If a subgroup shares a tile, each lane loads some of the vectors that all lanes need and shuffles
// them to the others.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

/// Returns the type of an aligned group of four elements: a vec4 of f16, f32 or i32, or a 32-bit
/// word of bytes. Null for other element types, which are accessed one by one. asTexels: the type
/// that texel loads return; they convert f16 to f32.
mlir::Type vectorTypeOf(mlir::Type element, bool asTexels);

/// Returns whether a tensor may be accessed in aligned groups of four elements: its element type
/// has a vector type, and no group lies partly beyond the tensor's end.
bool hasVectorView(mlir::RankedTensorType type, LayoutAttr layout);

/// Returns whether a tensor may be read in aligned groups of four elements of which the last may
/// lie partly beyond the tensor's end. Only texel buffers may be read in this way: the runtime
/// rounds them up to whole texels.
bool isPaddedView(mlir::RankedTensorType type, LayoutAttr layout);

/// Packs elements into a vector of type `type`, or four bytes into a word if `type` is i32.
mlir::Value packVector(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<mlir::Value> elements, mlir::Type type);

class MemoryAccess {
public:
  explicit MemoryAccess(const KernelContext &context)
      : tile_(context.tile), space_(context.space), sink_(context.sink), shapes_(context.shapes),
        guards_(context.guards), invocation_(context.invocation) {}

  /// The value of a load whose guard does not hold.
  enum class Outside : uint8_t { kAnything, kZero };
  /// Returns the elements of a tensor argument at these points.
  Values load(mlir::BlockArgument tensor, llvm::ArrayRef<Point> points,
              Outside outside = Outside::kAnything);

  /// Returns whether each group of four consecutive points is the bytes of one word of the buffer,
  /// in order.
  bool areWords(mlir::BlockArgument tensor, llvm::ArrayRef<Point> points);
  /// Returns, for each point, the word that contains its byte. Requires areWords().
  Values loadWords(mlir::BlockArgument tensor, llvm::ArrayRef<Point> points);

  /// Stores elements of the result. A point is stored if its guard holds.
  void store(llvm::ArrayRef<Point> points, llvm::ArrayRef<mlir::Value> values);

private:
  struct Request;
  struct PlacedVector;
  struct Progression;
  using SharedVectors = std::map<std::pair<int32_t, IndexExpr>, PlacedVector>;
  Values load(const Request &request);
  std::vector<Progression>
  progressionsOf(llvm::ArrayRef<std::pair<int32_t, IndexExpr>> vectors) const;
  SharedVectors loadShared(const Request &request, llvm::ArrayRef<std::pair<int32_t, IndexExpr>>);
  mlir::Value loadByLanes(const Request &request, const Progression &run);
  void loadVectors(const Request &request, Values &result, llvm::SmallVectorImpl<bool> &done);
  void loadElements(const Request &request, Values &result, llvm::ArrayRef<bool> done);
  mlir::Value loadVector(const Request &request, const IndexExpr &index, int32_t guard);
  mlir::Value loadElement(const Request &request, const IndexExpr &address, int32_t guard);
  void storeVectors(mlir::RankedTensorType type, llvm::ArrayRef<Point> points,
                    llvm::ArrayRef<IndexExpr> addresses, llvm::ArrayRef<mlir::Value> values,
                    KernelSink::GuardedBlocks &blocks, llvm::SmallVectorImpl<bool> &done);
  void storeUnder(int32_t guard, KernelSink::GuardedBlocks &blocks,
                  llvm::function_ref<void()> body);

  llvm::SmallVector<IndexExpr> addressesOf(unsigned buffer, mlir::Value tensor,
                                           llvm::ArrayRef<Point> points);
  mlir::Value guardedAddress(unsigned buffer, const IndexExpr &address, int64_t elements,
                             int32_t guard);
  double vectorCost(const IndexExpr &index) const;

  const TileShape &tile_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  const Invocation &invocation_;
};

} // namespace gantry::codegen
