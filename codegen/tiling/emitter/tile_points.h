// Computes the points (elements) of the result that an invocation computes, and the invocation's
// position among the invocations that share a tile. A tile is the part of the result that one
// invocation, subgroup or workgroup computes (tile_shape.h).
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

/// The ids that distinguish one invocation from another (null values with a CountingSink).
struct InvocationIds {
  // The tile's coordinates: its position along each tile dimension (tile_shape.h).
  llvm::ArrayRef<mlir::Value> tile;
  // The invocation's number: in the workgroup for tiles that stage operands in shared memory
  // without cooperative matrices, otherwise in the subgroup.
  mlir::Value lane;
  mlir::Value subgroup; // The subgroup's number in the workgroup, for cooperative matrices.
};

/// Converts a point in tile dimensions to a point of the result: divides the last coordinate into
/// the coordinates of the merged dimensions. Does nothing if no dimensions are merged.
void splitMerged(const TileShape &tile, IndexSpace &space, KernelShapes &shapes, Point &point);

class TilePoints {
public:
  explicit TilePoints(const KernelContext &context)
      : tile_(context.tile), readsTexels_(context.readsTexels), space_(context.space),
        sink_(context.sink), shapes_(context.shapes), guards_(context.guards) {}

  /// The points of the invocation, in row-major order of the tile.
  struct Points {
    std::vector<Point> load;  // The points at which operands are loaded, with guards for loads.
    std::vector<Point> store; // The points that are stored, with guards (guards.h) for stores.
  };
  /// Computes the points and sets the invocation's position.
  Points compute(const InvocationIds &ids, Invocation &invocation);

  /// Returns the points beyond the last whole run, if lanes (the invocations of a subgroup) share a
  /// tile of one dimension. A run is a group of TileShape::run neighbouring points of one lane.
  /// compute() gives these points to no lane. Other tiles have no such points.
  std::vector<Point> tail();

private:
  struct Line;
  IndexList placeInvocation(const InvocationIds &ids, size_t rank, Invocation &invocation);
  void placeMatrices(const InvocationIds &ids, Invocation &invocation);
  IndexExpr coordinateOf(unsigned dim, const IndexExpr &extent, mlir::Value id);
  Line lineOf(unsigned dim, const IndexExpr &extent, const IndexExpr &coordinate,
              const IndexExpr &place, const Invocation &invocation);
  void addLanePoint(Line &line, int64_t j, const IndexExpr &extent, const IndexExpr &coordinate,
                    const Invocation &invocation);
  IndexExpr placeInMatrices(unsigned dim, int64_t point, const MatrixPlaces &places);

  bool isStaged() const { return !tile_.threads.empty(); }

  const TileShape &tile_;
  const bool readsTexels_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
};

} // namespace gantry::codegen
