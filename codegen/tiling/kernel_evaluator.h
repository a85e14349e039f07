// Evaluates a dispatch at points: the heart of kernel generation.
//
// A dispatch is a small graph of linalg on tensors with at most one reduction (or several: over
// the rows of the result, rows.cpp; of an attention, online_softmax.cpp). A kernel invocation
// computes a register tile of the result: a handful of points. The evaluator pulls each tensor's
// elements at those points from the ops that produce them, inlining everything (pads become
// predicates, slices and views become index arithmetic, elementwise ops are cloned per point) down
// to loads; a reduction becomes a loop nest around the same, with one accumulator per point.
//
// Addresses are IndexExprs, so elements that several points share are loaded once, and four
// neighbours that are aligned are loaded as one vector.
//
// The same walk counts instead of emitting when it has no builder; tile_choice.cpp compares tiles
// by these counts, so what is chosen is what is emitted.
//
// Threads: one evaluator per kernel and thread.
#pragma once

#include "codegen/tiling/layout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVEnums.h"

#include <map>
#include <optional>
#include <set>

namespace gantry::codegen {

/// How a workgroup's subgroups multiply matrices: each holds some of a tile's m x n blocks, in a
/// rectangle, as the accumulators of the device's multiplications of m x k by k x n elements.
struct MatrixTile {
  int64_t m = 0, n = 0, k = 0;    // of one multiplication; 0: the tile's kernel multiplies none
  int64_t lanes = 0;              // of a subgroup
  unsigned rows = 0, columns = 0; // the tile's dimensions that the blocks cover
  int64_t down = 1, across = 1;   // subgroups along them
  int64_t depth = 0;              // steps of the reduction whose operands are staged at once
  // The steps are those of all reduction dimensions together, in order; otherwise those of the
  // longest, for each step of the others.
  bool flat = false;

  explicit operator bool() const { return m != 0; }
  // A lane takes fours of a block's columns: this many fours a row, and rows at once, by all lanes.
  int64_t foursPerRow() const { return n / 4; }
  int64_t rowsAtOnce() const { return lanes / foursPerRow(); }
  int64_t fours() const { return m / rowsAtOnce(); } // of a block, per lane
};

/// How many points an invocation computes: per tile dimension, and per reduction dimension how many
/// steps are unrolled (dividing its extent).
///
/// Tile dimensions are the result's, of which those from `merged` on may be taken as one, in
/// row-major order of their elements. Where `lanes` > 1, a subgroup of that many invocations is a
/// workgroup and shares a larger tile: along `laneDim` each holds runs of `run` neighbours, in
/// turn; what all of them need is loaded by them in turn, too, and shuffled to the others.
struct TileShape {
  llvm::SmallVector<int64_t> result;
  llvm::SmallVector<int64_t> reduction;
  unsigned merged = ~0u;
  unsigned laneDim = 0;
  int64_t lanes = 1;
  int64_t run = 1;
  // Where operands are staged in shared memory: a workgroup's invocations along each tile dimension
  // (none: not staged), how many steps of each reduction dimension are staged at once, whether the
  // result goes through shared memory too, and where in the pool each box begins (in words).
  llvm::SmallVector<int64_t> threads{}, stageSteps{}, poolOffsets{};
  bool stageResult = false;
  // In how many places a box lies in turn. With two, those that are through with a stage load the
  // next one while others still read theirs, and a stage takes one barrier instead of two.
  int64_t buffers = 1;
  // Where the reduction is a product of matrices (matrices.cpp): threads[matrix.rows] is
  // matrix.down * matrix.rowsAtOnce(), threads[matrix.columns] matrix.across * foursPerRow().
  MatrixTile matrix{};
  int64_t rowLength = 0; // of kernels over rows: the last dimension, all of it in one tile
  // Of attentions (online_softmax.cpp): how many keys a lane scores at once, in runs of so many
  // neighbours. `reduction` is then that of the scores' product.
  int64_t keys = 0, keyRun = 1;
  // Products of bytes are taken four at a time, by the device's dot products (dot_products.cpp).
  bool dots = false;

  /// The extents of a result of this shape along the tile's dimensions. What is merged is static.
  llvm::SmallVector<int64_t> spaceOf(llvm::ArrayRef<int64_t> shape) const {
    llvm::SmallVector<int64_t> space(shape);
    if (merged < shape.size()) {
      space.truncate(merged + 1);
      for (int64_t extent : shape.drop_front(merged + 1))
        space.back() *= extent;
    }
    return space;
  }

  /// How many points a workgroup's subgroup (lanes > 1) or an invocation has along a dimension.
  int64_t extent(unsigned dim) const {
    if (rowLength && dim + 1 == result.size())
      return rowLength;
    if (!threads.empty())
      return result[dim] * threads[dim];
    return lanes > 1 && dim == laneDim ? result[dim] * lanes : result[dim];
  }
};

/// A point of a tensor. guard: index of a set of conditions under which it lies inside; loads at
/// points outside are redirected to element 0 and their value does not matter.
struct Point {
  llvm::SmallVector<IndexExpr, 4> index;
  int32_t guard = 0;
};

/// What an invocation does, for the cost model.
struct OperationCounts {
  double scalarLoads = 0, vectorLoads = 0, shuffles = 0, arithmetic = 0, loopSteps = 0;
  double scalarStores = 0, vectorStores = 0;
  double shared = 0, barriers = 0; // loads and stores of shared memory
  double matrices = 0;             // multiplications of matrices, by a whole subgroup
  // Rounds of all loops together, those of unknown extent (which are dims of the kernel) as one.
  double rounds = 0;
  std::set<unsigned> loopDims;
};

/// What an aligned group of four elements is accessed as, or null where each is accessed alone:
/// vectors of 16 and 32 bits an element, one word for four bytes. `asTexels`: as texel fetches give
/// f16, in f32.
mlir::Type groupTypeOf(mlir::Type element, bool asTexels);

using Values = llvm::SmallVector<mlir::Value>;

struct Attention;
struct ByteFactor;

class KernelEvaluator {
public:
  /// One buffer of the kernel in both of its views: elements, and groups of four (groupTypeOf; null
  /// if its type has none).
  struct Buffer {
    mlir::Value scalar, vector;
  };

  /// `kernel` is the outlined function (tensors, then dims → one tensor) and stays unchanged; its
  /// attribute `gantry.layouts` tells how its tensors and its result lie in memory. builder null:
  /// count only. buffers: one per tensor argument, then the result. dims: the values of the dynamic
  /// dimensions.
  KernelEvaluator(mlir::func::FuncOp kernel, const TileShape &tile, mlir::OpBuilder *builder,
                  llvm::ArrayRef<Buffer> buffers, mlir::ValueRange dims);

  /// Evaluates the result's tile and stores it. tileCoordinates: one per tile dimension; lane: the
  /// invocation's place in the subgroup, of tiles with lanes or matrices, or in the workgroup, of
  /// staged ones; subgroup: its subgroup's place in the workgroup, of tiles with matrices (all null
  /// when counting).
  void run(mlir::ValueRange tileCoordinates, mlir::Value lane, mlir::Value subgroup = {});

  /// Staged tiles: the words of each box in shared memory, in the order of TileShape::poolOffsets,
  /// operands first; and, before run(), the pool that they lie in.
  llvm::ArrayRef<int64_t> poolWords() const { return poolWords_; }
  bool resultInPool() const { return resultInPool_; }
  void setPool(mlir::Value pool) { pool_ = pool; }

  /// After run(), of a kernel whose outermost tiles touch stretches of memory of their own: how
  /// many elements of each buffer (0: any of them) one step of the outermost tile coordinate takes;
  /// step i touches nothing outside of [i, i + 1) times that, and nothing else depends on i. So a
  /// part of the steps is the same kernel over a part of the buffers. None where that is not so.
  std::optional<llvm::SmallVector<int64_t>> slices() const;

  const OperationCounts &counts() const { return counts_; }
  IndexSpace &space() { return space_; }
  /// The extents of the result along the tile's dimensions.
  llvm::SmallVector<IndexExpr> tileSpace();
  /// Which construct could not be handled, or null.
  mlir::Operation *unsupported() const { return unsupported_; }

private:
  Values evaluate(mlir::Value tensor, llvm::ArrayRef<Point> points);
  Values evaluateUnique(mlir::Value tensor, llvm::ArrayRef<Point> points);
  Values evaluateGeneric(mlir::linalg::GenericOp op, unsigned resultNumber,
                         llvm::ArrayRef<Point> points);
  Values evaluateReduction(mlir::linalg::GenericOp op, llvm::ArrayRef<Point> points);
  Values evaluatePad(mlir::Operation *op, llvm::ArrayRef<Point> points);
  Values evaluateConcat(mlir::Operation *op, llvm::ArrayRef<Point> points);
  Values evaluateView(mlir::Operation *op, llvm::ArrayRef<Point> points);
  std::vector<Point> viewedPoints(mlir::Operation *view, llvm::ArrayRef<Point> points);
  /// What a pad reads where, and where it does not.
  struct PaddedPoints {
    std::vector<Point> inner;             // of its source, those that may lie inside
    llvm::SmallVector<int32_t> inside;    // its own conditions: 0 none needed, -1 never inside
    llvm::SmallVector<unsigned> position; // in `inner`
  };
  PaddedPoints paddedPoints(mlir::Operation *pad, llvm::ArrayRef<Point> points);
  /// bytesAsWords: of bytes, the whole word that each is in.
  Values load(unsigned buffer, mlir::Value tensor, llvm::ArrayRef<Point> points,
              bool bytesAsWords = false);
  /// Of `count` vectors (at addresses in vectors), of which all lanes need all: lane i loads one.
  mlir::Value loadShared(unsigned buffer, const IndexExpr &first, int64_t stride, int64_t count,
                         int32_t guard);
  mlir::Value loadVector(unsigned buffer, const IndexExpr &index, int32_t guard);
  mlir::Value elementOf(mlir::Value part, int64_t lane, mlir::Type element);
  mlir::Value groupOf(llvm::ArrayRef<mlir::Value> lanes, mlir::Type type);
  bool isUniform(int32_t guard) const;
  bool areApart(const IndexExpr &index) const;
  IndexExpr groupStart(IndexExpr index, const IndexExpr &extent) const;
  void splitMerged(Point &point);
  IndexExpr runStart(const IndexExpr &tileCoordinate, int64_t index, const IndexExpr &extent,
                     IndexExpr &unclamped);
  void store(mlir::Value tensor, llvm::ArrayRef<Point> points, llvm::ArrayRef<mlir::Value> values);
  void storeDirect(mlir::Value tensor, llvm::ArrayRef<Point> points,
                   llvm::ArrayRef<mlir::Value> values);

  // Kernels over rows: rows.cpp.
  struct Columns {
    llvm::SmallVector<IndexExpr> index, inside;
  };
  void runRows(mlir::ValueRange tileCoordinates, mlir::Value lane);
  mlir::Value reduceRow(mlir::linalg::GenericOp op, const Point &row);
  Columns columnsOf(const IndexExpr &chunk, const IndexExpr &extent, int64_t held, int64_t run);
  mlir::Value acrossLanes(mlir::Value value,
                          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  Values forChunks(Values carried, llvm::function_ref<void(const Columns &, Values &)> body);

  // Attention: online_softmax.cpp.
  struct OnlineRow {
    mlir::Value maximum, total; // so far: of the scores, and of exponentials relative to it
    mlir::Value scale;          // of what was summed relative to the maximum before
  };
  Values evaluateAttention(const Attention &attention, llvm::ArrayRef<Point> points);
  Values weigh(llvm::ArrayRef<mlir::Value> scores, const Columns &keys, OnlineRow &row);
  void addWeighted(const Attention &attention, const IndexExpr &block,
                   llvm::ArrayRef<Values> weights, llvm::ArrayRef<size_t> rowOf,
                   llvm::ArrayRef<Point> points, Values &sums);
  mlir::Value fromLane(mlir::Value value, int64_t lane, mlir::Type type);
  mlir::Value inFloat32(mlir::Value value);
  mlir::Value floatOf(float value);

  /// Clones the op's body once per point, op by op, so that loads of all points are seen together.
  /// Returns the yielded values: one list per yield operand.
  llvm::SmallVector<Values> cloneBody(mlir::linalg::GenericOp op,
                                      llvm::ArrayRef<llvm::SmallVector<IndexExpr, 6>> loops,
                                      llvm::ArrayRef<int32_t> guards,
                                      llvm::ArrayRef<Values> arguments);
  mlir::Value widened(mlir::Operation &extension, mlir::Value narrow);
  struct LoopLevel {
    unsigned dim; // loop of the generic op
    IndexExpr trips;
    int64_t multiplier; // the loop's coordinate advances by this much
  };
  void emitLoops(mlir::linalg::GenericOp op, llvm::ArrayRef<LoopLevel> levels, size_t level,
                 llvm::SmallVector<IndexExpr, 6> offsets, llvm::ArrayRef<Point> points,
                 Values &accumulators, llvm::ArrayRef<mlir::Value> init, bool blocked);
  /// Calls `body` with the counter of a loop of so many trips and what it carries.
  void forTrips(const IndexExpr &trips, Values &carried,
                llvm::function_ref<void(const IndexExpr &, Values &)> body);
  void accumulate(mlir::linalg::GenericOp op, llvm::ArrayRef<llvm::SmallVector<IndexExpr, 6>> steps,
                  llvm::ArrayRef<Point> points, Values &accumulators,
                  mlir::OpOperand *known = nullptr, llvm::ArrayRef<mlir::Value> elements = {});
  void emitReductionStep(mlir::linalg::GenericOp op, llvm::ArrayRef<IndexExpr> offsets,
                         llvm::ArrayRef<Point> points, Values &accumulators);

  // Products of bytes, four at a time: dot_products.cpp.
  bool areWords(mlir::BlockArgument tensor, llvm::ArrayRef<Point> points);
  Values evaluateWords(mlir::Value tensor, llvm::ArrayRef<Point> points);
  struct DotFactor;
  DotFactor dotFactor(mlir::linalg::GenericOp op, const ByteFactor &factor,
                      llvm::ArrayRef<llvm::SmallVector<IndexExpr, 6>> steps,
                      llvm::ArrayRef<Point> points);
  mlir::Value dotProduct(mlir::Value a, mlir::Value b);
  mlir::Value word(int64_t value);
  void accumulateDots(mlir::linalg::GenericOp op, llvm::ArrayRef<ByteFactor> factors,
                      llvm::ArrayRef<llvm::SmallVector<IndexExpr, 6>> steps,
                      llvm::ArrayRef<Point> points, Values &accumulators);

  // Shared memory: staging.cpp. A box of a tensor's elements, from `start` on, row-major in the
  // pool.
  struct Box {
    llvm::SmallVector<IndexExpr> start;
    llvm::SmallVector<int64_t> size;
    int64_t offset = 0;
    IndexExpr turn{0}; // how far from there in this stage (TileShape::buffers)
  };
  bool boxOf(llvm::ArrayRef<llvm::SmallVector<IndexExpr>> indices, Box &box) const;
  IndexExpr inBox(const Box &box, llvm::ArrayRef<IndexExpr> index);
  llvm::SmallVector<IndexExpr> takeApart(const IndexExpr &linear, llvm::ArrayRef<int64_t> sizes);
  void barrier(mlir::spirv::Scope scope = mlir::spirv::Scope::Workgroup);
  void forElements(const Box &box, int64_t width,
                   llvm::function_ref<void(llvm::ArrayRef<IndexExpr>)> body);
  void storeShared(const IndexExpr &address, mlir::Value value);
  mlir::Value loadFromPool(const IndexExpr &address, mlir::Type type);
  int64_t takePool(int64_t words);
  void stageOperands(mlir::linalg::GenericOp op, llvm::ArrayRef<IndexExpr> offsets,
                     llvm::ArrayRef<Point> points, llvm::ArrayRef<LoopLevel> inside);
  Values readStaged(mlir::OpOperand *operand, llvm::ArrayRef<Point> points);
  bool storeThroughPool(mlir::Value tensor, llvm::ArrayRef<Point> points,
                        llvm::ArrayRef<mlir::Value> values);

  // Products of matrices: matrices.cpp. Which elements of an operand a stage holds: those of some
  // steps for the rows, or the columns, of the workgroup's tile, as halves in shared memory.
  struct MatrixOperand {
    mlir::OpOperand *operand = nullptr;
    bool isA = false;               // a: rows of the tile; b: columns
    bool stepsInner = false;        // steps are adjacent, else rows (columns) of the tile
    int64_t offset = 0, stride = 0; // in vectors of 16 bytes
  };
  struct MatrixPlaces {
    IndexExpr down, across;      // the subgroup's, in the tile
    IndexExpr row, four;         // the lane's, in a block
    std::vector<IndexExpr> base; // where the tile begins, by tile dimension
    std::vector<Point> points;   // the invocation's, of the result
  };
  void placeMatrices(mlir::Value lane, mlir::Value subgroup);
  IndexExpr placeInTile(unsigned dim, int64_t point);
  Values evaluateProduct(mlir::linalg::GenericOp op, llvm::ArrayRef<Point> points);
  bool layOperands(mlir::linalg::GenericOp op, llvm::MutableArrayRef<MatrixOperand> operands);
  void multiplySteps(mlir::linalg::GenericOp op, llvm::ArrayRef<MatrixOperand> operands,
                     llvm::ArrayRef<unsigned> looped, llvm::ArrayRef<unsigned> staged,
                     llvm::SmallVector<IndexExpr, 6> coordinates, Values &sums);
  void stageMatrix(mlir::linalg::GenericOp op, const MatrixOperand &staged,
                   llvm::ArrayRef<unsigned> dims, llvm::ArrayRef<IndexExpr> coordinates,
                   const IndexExpr &first);
  mlir::Value loadMatrix(const MatrixOperand &staged, const IndexExpr &place, int64_t step);
  void multiplyStage(llvm::ArrayRef<MatrixOperand> operands, Values &sums);
  Values readProduct(mlir::linalg::GenericOp op, llvm::ArrayRef<mlir::Value> sums);
  int64_t takeVectors(int64_t count);
  void storeHalves(const IndexExpr &at, llvm::ArrayRef<mlir::Value> values);
  Values loadSums(const IndexExpr &at, mlir::Type type);
  Point pointInTile(const IndexExpr &row, const IndexExpr &column);

  std::vector<llvm::SmallVector<unsigned>> accumulationGroups(size_t count) const;
  void sinkShuffles();

  llvm::SmallVector<IndexExpr, 6> loopCoordinates(mlir::linalg::GenericOp op,
                                                  mlir::AffineMap outputMap, const Point &point);
  llvm::SmallVector<IndexExpr> shapeOf(mlir::Value tensor);
  llvm::SmallVector<IndexExpr> mixedValues(llvm::ArrayRef<int64_t> constants,
                                           mlir::ValueRange values);
  llvm::SmallVector<IndexExpr> loopExtents(mlir::linalg::GenericOp op);
  void countRounds(const IndexExpr &trips);
  /// An index-typed value that the kernel's function holds outside of any body.
  IndexExpr indexOf(mlir::Value value);
  mlir::Value scalarOutside(mlir::Value value);

  int32_t guardAnd(int32_t guard, llvm::ArrayRef<IndexExpr> conditions, bool &never);
  mlir::Value guardValue(int32_t guard);
  mlir::Value constantLike(mlir::Attribute value, mlir::Type type);
  mlir::Value linearAddress(unsigned buffer, const IndexExpr &address, int64_t elements,
                            int32_t guard);
  mlir::Value placeOf(unsigned buffer, const IndexExpr &address, int64_t elements);
  mlir::Value valueOf(const IndexExpr &index);
  mlir::Value fail(mlir::Operation *op);
  mlir::Location loc() const;

  mlir::func::FuncOp kernel_;
  const TileShape &tile_;
  mlir::OpBuilder *builder_;
  IndexExpr lane_{0}, invocation_{0};             // in the subgroup; in the workgroup
  llvm::SmallVector<mlir::Operation *> shuffles_; // of the current step of a reduction
  mlir::Value pool_;
  llvm::SmallVector<int64_t> poolWords_;
  std::map<mlir::OpOperand *, Box> staged_;
  size_t stageLevel_ = ~size_t(0); // of the reduction's loops: operands are staged outside of it
  IndexExpr stage_{0};             // its number
  bool resultInPool_ = false;
  llvm::SmallVector<int64_t> scoresTile_; // rows and keys, while an attention's scores are computed
  MatrixPlaces places_;
  bool zeroOutside_ = false; // loads give zero where their guard does not hold
  llvm::SmallVector<llvm::SmallVector<int64_t>> layouts_; // of the tensors, then of the result
  llvm::SmallVector<Buffer> buffers_;
  llvm::SmallVector<mlir::Value> dimValues_;
  mlir::Value result_;

  int32_t outermost_ = -1;     // the variable that counts the outermost tiles
  bool outermostUsed_ = false; // by more than addresses
  std::map<unsigned, int64_t> slices_;
  IndexSpace space_;
  llvm::DenseMap<mlir::Value, IndexExpr> indexValues_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<IndexExpr>> shapes_;
  std::vector<std::vector<IndexExpr>> guards_{{}}; // each condition: expression >= 0
  std::map<std::vector<IndexExpr>, int32_t> guardIds_{{{}, 0}};
  // Value numbering within the current block, so that equal clones are one value.
  using CloneKey = std::pair<std::pair<void *, const void *>, std::vector<const void *>>;
  std::map<CloneKey, llvm::SmallVector<mlir::Value, 1>> clones_;
  std::map<mlir::Operation *, std::map<std::vector<IndexExpr>, mlir::Value>> reduced_;
  // What has been evaluated already, by tensor and block; kept by kernels over rows alone.
  std::map<std::pair<void *, mlir::Block *>,
           std::map<std::pair<int32_t, std::vector<IndexExpr>>, mlir::Value>>
      evaluated_;
  bool memo_ = false;

  OperationCounts counts_;
  std::set<int32_t> counted_;      // guards whose tests are in the counts
  double weight_ = 1, rounds_ = 1; // how often the current loop body runs; unknown extents: 64, 1
  mlir::Operation *unsupported_ = nullptr;
};

} // namespace gantry::codegen
