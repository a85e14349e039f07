// Emits the loads of a kernel's operands.
//
// Addresses are compared as expressions. A point is one element of a tensor, given by its index. An
// element that is needed for several points of the result is loaded once, and an aligned group of
// four neighbours is one vector access: a vec4, or a 32-bit word of four bytes. If a subgroup
// shares a tile, that is, computes a part of the result together, each lane (invocation of the
// subgroup) loads some of the vectors that all lanes need and shuffles them to the others. If the
// kernel reads texels, that is, operands through texel buffers, neighbours that are not an aligned
// group are selected from the vectors that contain them.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"
#include "codegen/tiling/emitter/memory/vector_views.h"

namespace gantry::codegen {

class MemoryAccess {
public:
  explicit MemoryAccess(const KernelContext &context)
      : context_(context), tile_(context.tile), readsTexels_(context.readsTexels),
        space_(context.space), sink_(context.sink), shapes_(context.shapes),
        guards_(context.guards), invocation_(context.invocation) {}

  /// The value of a load whose guard does not hold. A guard is the number of a set of conditions
  /// under which a point lies inside its tensor (guards.h).
  enum class Outside : uint8_t { kAnything, kZero };
  /// Returns the elements of a tensor argument at these points.
  Values load(mlir::BlockArgument tensor, llvm::ArrayRef<Point> points,
              Outside outside = Outside::kAnything);

  /// Returns whether each group of four consecutive points is the bytes of one word of the buffer,
  /// in order.
  bool areWords(mlir::BlockArgument tensor, llvm::ArrayRef<Point> points);
  /// Returns, for each point, the word that contains its byte. Requires areWords().
  Values loadWords(mlir::BlockArgument tensor, llvm::ArrayRef<Point> points);

private:
  struct Request;
  struct PlacedVector;
  struct Progression;
  struct OddRun;
  using SharedVectors = std::map<std::pair<int32_t, IndexExpr>, PlacedVector>;
  Values load(const Request &request);
  std::vector<Progression>
  progressionsOf(llvm::ArrayRef<std::pair<int32_t, IndexExpr>> vectors) const;
  SharedVectors loadShared(const Request &request, llvm::ArrayRef<std::pair<int32_t, IndexExpr>>);
  mlir::Value loadByLanes(const Request &request, const Progression &run);
  llvm::SmallVector<int32_t> vectorGuards(const Request &request) const;
  void loadVectors(const Request &request, Values &result, llvm::SmallVectorImpl<bool> &done);
  void loadOddRuns(const Request &request, Values &result, llvm::SmallVectorImpl<bool> &done);
  Values loadOddRun(const Request &request, const OddRun &run);
  mlir::Value orZero(mlir::Value loaded, int32_t guard, int32_t known, int64_t elements = 1);
  Values loadGroups(const Request &request, const IndexExpr &first, const OddRun &run,
                    int64_t count);
  void loadElements(const Request &request, Values &result, llvm::ArrayRef<bool> done);
  mlir::Value loadVector(const Request &request, const IndexExpr &index, int32_t guard);
  mlir::Value loadElement(const Request &request, const IndexExpr &address, int32_t guard);

  mlir::Value guardedAddress(unsigned buffer, const IndexExpr &address, int64_t elements,
                             int32_t guard);

  const KernelContext &context_;
  const TileShape &tile_;
  const bool readsTexels_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
  const Invocation &invocation_;
};

} // namespace gantry::codegen
