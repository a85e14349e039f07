// Implements the construction of a kernel's function on buffers for one tile.
#include "codegen/passes/kernel_function.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/tiling/emitter/kernel_emitter.h"
#include "codegen/tiling/matmul_tiles.h"
#include "codegen/tiling/sink/building_sink.h"
#include "codegen/tiling/tile_cost.h"
#include "codegen/tiling/tile_text.h"
#include "engine/artifact/artifact.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVAttributes.h"

#include <cmath>
#include <numeric>

namespace gantry::codegen {

using namespace mlir;

namespace {

// The number of workgroups along x if a kernel has workgroups along y, too.
constexpr int64_t kWorkgroupsAlongX = artifact::kWorkgroupsAlongX;
// The workgroup size of a kernel with few tiles is halved, but only while it is larger than this.
constexpr int64_t kMinWorkgroupSize = 8;

/// Returns the tensor types of the kernel's buffers: the operands, then the result.
llvm::SmallVector<RankedTensorType> tensorTypesOf(func::FuncOp source) {
  llvm::SmallVector<RankedTensorType> types;
  for (Type type : source.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      types.push_back(tensor);
  types.push_back(cast<RankedTensorType>(source.getResultTypes().front()));
  return types;
}

/// Builds one function on buffers.
class KernelFunction {
public:
  KernelFunction(func::FuncOp source, const DeviceProfile &device, TileKind kind,
                 const TileChoice &choice, int64_t grid, bool isAlternative)
      : source_(source), device_(device), kind_(kind), choice_(choice), tile_(choice.tile),
        isStaged_(!tile_.threads.empty()), grid_(grid), isAlternative_(isAlternative),
        builder_(source), loc_(source.getLoc()), tensors_(tensorTypesOf(source)),
        subgroups_(chooseSubgroups()), workgroupSize_(chooseWorkgroupSize()),
        tilesPerWorkgroup_(isStaged_ || tile_.lanes > 1 ? subgroups_ : workgroupSize_) {}

  LogicalResult build() {
    createFunction();
    setLaunch();
    setTile();
    setPrediction();
    setRemarks();
    if (failed(buildBody()))
      return failure();
    if (kind_ != TileKind::kBaseline)
      kernel_.setName(source_.getName().str() + "_" + stringifyTileKind(kind_).str() +
                      (isAlternative_ ? std::to_string(grid_) : ""));
    removeUnusedArguments();
    return success();
  }

private:
  /// The ids in the order of their arguments, which come after the buffers and the dims.
  enum Id : unsigned { kWorkgroupX, kWorkgroupY, kInvocation, kLane, kSubgroup };
  static constexpr ArgumentRole kIdRoles[] = {ArgumentRole::kWorkgroupX, ArgumentRole::kWorkgroupY,
                                              ArgumentRole::kInvocation, ArgumentRole::kLane,
                                              ArgumentRole::kSubgroup};

  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(loc_, value); }
  Value id(Id which) {
    return kernel_.getArgument(static_cast<unsigned>(2 * tensors_.size() + dimCount_) + which);
  }

  /// Returns the number of subgroups of a workgroup, if each subgroup computes one tile;
  /// otherwise 1. It is larger than 1 only in texel kernels without reductions. Their tiles are
  /// little work, and the software device (a Vulkan driver on the CPU), which runs texel kernels,
  /// takes longer to start a workgroup than to add two vectors. The number divides the number of
  /// tiles, so that the kernel needs no guard, and leaves enough workgroups for many cores.
  int64_t chooseSubgroups() const {
    constexpr int64_t kMaxSubgroups = 8, kMinWorkgroups = 64;
    if (kind_ != TileKind::kTexel || tile_.lanes == 1 || !tile_.reduction.empty() ||
        tile_.rowLength)
      return 1;
    int64_t tiles = 1;
    for (auto [d, extent] : llvm::enumerate(tile_.spaceOf(tensors_.back().getShape()))) {
      if (ShapedType::isDynamic(extent))
        return 1;
      tiles *= (extent + tile_.extent(d) - 1) / tile_.extent(d);
    }
    int64_t subgroups = 1;
    while (subgroups < kMaxSubgroups && tiles % (2 * subgroups) == 0 &&
           tiles / (2 * subgroups) >= kMinWorkgroups)
      subgroups *= 2;
    return subgroups;
  }

  /// Returns the workgroup's size in invocations. If a subgroup or a workgroup shares a tile, the
  /// tile determines the size. Otherwise the size is the device's preferred one, halved while half
  /// of it is still enough for all invocations of the kernel.
  int64_t chooseWorkgroupSize() const {
    if (isStaged_)
      return std::accumulate(tile_.threads.begin(), tile_.threads.end(), int64_t(1),
                             std::multiplies<>());
    if (tile_.lanes > 1)
      return tile_.lanes * subgroups_;
    int64_t size = std::min(device_.preferredWorkgroupSize, device_.maxWorkgroupInvocations);
    int64_t invocations = 1;
    for (auto [d, extent] : llvm::enumerate(tile_.spaceOf(tensors_.back().getShape()))) {
      if (ShapedType::isDynamic(extent))
        return size;
      invocations *= (extent + tile_.extent(d) - 1) / tile_.extent(d);
    }
    while (invocations > 0 && size > device_.subgroupSize && size > kMinWorkgroupSize &&
           size / 2 >= invocations)
      size /= 2;
    return size;
  }

  // ---- Signature -------------------------------------------------------------------------------

  void addArgument(Type type, ArgumentRole role, int64_t index = -1, Type texelsOf = {},
                   int64_t skipped = 0) {
    types_.push_back(type);
    bindings_.push_back(BindingAttr::get(builder_.getContext(), role, index, texelsOf, skipped));
  }

  /// Adds the arguments for the scalar and the vector view of a buffer. The operands of a texel
  /// kernel have vector views of texels; its result has an ordinary one.
  void addBuffer(RankedTensorType type, int64_t index) {
    MemRefLayoutAttrInterface layout;
    auto storage =
        spirv::StorageClassAttr::get(builder_.getContext(), spirv::StorageClass::StorageBuffer);
    Type element = type.getElementType();
    if (element.isInteger(1))
      element = builder_.getI8Type();
    const bool isTexel =
        kind_ == TileKind::kTexel && index + 1 < static_cast<int64_t>(tensors_.size());
    Type vector = vectorTypeOf(element, isTexel);
    if (!vector)
      vector = element;
    addArgument(MemRefType::get({ShapedType::kDynamic}, element, layout, storage),
                ArgumentRole::kBuffer, index);
    addArgument(MemRefType::get({ShapedType::kDynamic}, vector, layout, storage),
                ArgumentRole::kBuffer, index,
                isTexel && (element.isF16() || element.isInteger(8)) ? element : Type());
  }

  void createFunction() {
    for (auto [i, type] : llvm::enumerate(tensors_))
      addBuffer(type, static_cast<int64_t>(i));
    for (Type type : source_.getArgumentTypes())
      if (!isa<RankedTensorType>(type))
        addArgument(builder_.getIndexType(), ArgumentRole::kDim, dimCount_++);
    for (ArgumentRole role : kIdRoles)
      addArgument(builder_.getIndexType(), role);
    if (kind_ == TileKind::kTexel) // More vector views of the result, for stores at any address.
      for (int64_t skipped = 1; skipped <= kMaxSkippedElements; ++skipped)
        addArgument(types_[2 * tensors_.size() - 1], ArgumentRole::kBuffer,
                    static_cast<int64_t>(tensors_.size()) - 1, {}, skipped);
    kernel_ = builder_.create<func::FuncOp>(loc_, source_.getName(),
                                            builder_.getFunctionType(types_, {}));
    kernel_.addEntryBlock();
    for (auto [i, binding] : llvm::enumerate(bindings_))
      kernel_.setArgAttr(static_cast<unsigned>(i), BindingAttr::name, binding);
  }

  void removeUnusedArguments() {
    llvm::BitVector unused(kernel_.getNumArguments());
    for (BlockArgument argument : kernel_.getArguments())
      if (argument.use_empty())
        unused.set(argument.getArgNumber());
    kernel_.eraseArguments(unused);
  }

  // ---- Attributes ------------------------------------------------------------------------------

  void setLaunch() {
    const int64_t subgroupSize = tile_.matrix ? tile_.matrix.lanes : tile_.lanes;
    StringAttr matrixFeature;
    if (tile_.matrix)
      matrixFeature = builder_.getStringAttr(capabilityOf(*halfShapeOf(device_)));
    setAttribute(kernel_,
                 LaunchAttr::get(builder_.getContext(), tensors_.size(), dimCount_, workgroupSize_,
                                 tilesPerWorkgroup_, subgroupSize > 1 ? subgroupSize : 0,
                                 isStaged_ ? choice_.sharedBytes : 0,
                                 isStaged_ ? choice_.boxesBytes : 0, matrixFeature));
  }

  void setTile() {
    llvm::SmallVector<int64_t> extents;
    for (size_t d = 0; d < tile_.result.size(); ++d)
      extents.push_back(tile_.extent(d));
    const auto signature = attributeOf<SignatureAttr>(source_);
    setAttribute(
        kernel_,
        TileAttr::get(
            builder_.getContext(), kind_, grid_, extents,
            std::min<int64_t>(tile_.merged, tensors_.back().getRank()), tile_.lanes,
            isAlternative_ ? std::max<int64_t>(1, std::llround(choice_.tileCost)) : 0,
            signature ? signature.getDimMultiples() : llvm::ArrayRef<int64_t>(),
            builder_.getStringAttr(describeTile(tile_) + (tile_.matrix ? "" : " per invocation")),
            builder_.getStringAttr(exactTile(tile_))));
  }

  void setPrediction() {
    const PredictedTile predicted = predictTile(source_, device_, costModelOf(device_, kind_),
                                                tile_, extentsOf(source_).assumedResult());
    constexpr double kMaxCost = 1e18; // It fits 64 bits.
    setAttribute(kernel_, PredictionAttr::get(builder_.getContext(),
                                              std::llround(std::min(predicted.cost, kMaxCost)),
                                              std::llround(predicted.accesses),
                                              std::llround(predicted.vectorAccesses)));
  }

  /// Sets `gantry.remarks`: the remarks of the tile's choice, and the reasons why operations were
  /// not fused, which the pass form-dispatches leaves on them (`gantry.why`).
  void setRemarks() {
    llvm::SmallVector<StringAttr> texts;
    for (const auto *list : {&choice_.remarks, &choice_.comparison})
      for (const std::string &text : *list)
        texts.push_back(builder_.getStringAttr(text));
    source_.walk([&](linalg::GenericOp op) {
      auto why = GantryDialect::WhyAttrHelper(op.getContext()).getAttr(op);
      if (why && !why.getValue().empty())
        texts.push_back(why);
    });
    if (!texts.empty())
      setAttribute(kernel_, RemarksAttr::get(builder_.getContext(), texts));
  }

  /// Sets `gantry.slices` if the dispatch can be cut into slices: launches that each bind only a
  /// part of some buffers, for devices that cannot bind large buffers. The coordinates of a tile
  /// are its position along each tile dimension (tile_shape.h). A slice consists of whole
  /// workgroups and of whole steps of one tile coordinate, the outermost one with more than one
  /// value. elements: the number of elements by which each buffer advances with one step of this
  /// coordinate. space: the extents of the result along the tile dimensions.
  void setSlices(llvm::ArrayRef<int64_t> elements, llvm::ArrayRef<IndexExpr> space) {
    size_t outermost = 0;
    while (space[outermost].constant <= tile_.extent(outermost))
      ++outermost;
    int64_t tiles = 1; // The number of tiles in one step of the outermost coordinate.
    for (size_t d = outermost + 1; d < space.size(); ++d)
      tiles *= (space[d].constant + tile_.extent(d) - 1) / tile_.extent(d);
    // The number of tiles of the smallest slice.
    const int64_t all = std::lcm(tiles, tilesPerWorkgroup_);
    const int64_t steps = space[outermost].constant / tile_.extent(outermost);
    if (steps * tiles % all != 0 || all / tilesPerWorkgroup_ > kWorkgroupsAlongX)
      return; // The last slice would end inside a workgroup, or slices have too many workgroups.
    llvm::SmallVector<int64_t> bytes;
    for (auto [step, type] : llvm::zip(elements, tensors_))
      bytes.push_back(step * (all / tiles) * std::max(1u, type.getElementTypeBitWidth() / 8));
    setAttribute(kernel_, SlicesAttr::get(builder_.getContext(), all / tilesPerWorkgroup_, bytes));
  }

  /// Sets `gantry.loops`, the number of loop iterations of one invocation.
  void setLoops(const Loops &loops) {
    const auto rounds =
        static_cast<int64_t>(std::min(loops.rounds(), static_cast<double>(UINT32_MAX)));
    llvm::SmallVector<int64_t> dims(loops.dims().begin(), loops.dims().end());
    setAttribute(kernel_, LoopsAttr::get(builder_.getContext(), rounds, dims));
  }

  // ---- Body ------------------------------------------------------------------------------------

  /// Returns the number of the tile that the invocation, its subgroup or its workgroup computes.
  Value tileNumber() {
    Value group = builder_.create<arith::AddIOp>(
        loc_, builder_.create<arith::MulIOp>(loc_, id(kWorkgroupY), constant(kWorkgroupsAlongX)),
        id(kWorkgroupX));
    if (tilesPerWorkgroup_ == 1)
      return group;
    return builder_.create<arith::AddIOp>(
        loc_, builder_.create<arith::MulIOp>(loc_, group, constant(tilesPerWorkgroup_)),
        id(tile_.lanes > 1 ? kSubgroup : kInvocation));
  }

  /// Moves the insertion point into an scf.if that excludes invocations beyond the last tile. Does
  /// nothing if no such invocations are launched.
  void guardTail(IndexSpace &space, const IndexExpr &tileCount, Value number) {
    if (tileCount.isConstant() && tileCount.constant % tilesPerWorkgroup_ == 0 &&
        tileCount.constant / tilesPerWorkgroup_ <= kWorkgroupsAlongX)
      return;
    Value inside = builder_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::ult, number,
                                                  space.materialize(tileCount, builder_, loc_));
    auto guard = builder_.create<scf::IfOp>(loc_, inside);
    builder_.setInsertionPoint(guard.thenBlock()->getTerminator());
  }

  /// Computes a tile's coordinates from its number; the last coordinate varies fastest. counts: the
  /// number of tiles along each tile dimension.
  llvm::SmallVector<Value> coordinatesOf(Value number, llvm::ArrayRef<IndexExpr> counts,
                                         IndexSpace &space) {
    const auto *outermost =
        llvm::find_if(counts, [](const IndexExpr &count) { return !(count == IndexExpr(1)); });
    llvm::SmallVector<Value> coordinates(counts.size());
    for (size_t d = counts.size(); d-- > 0;) {
      if (counts[d] == IndexExpr(1)) {
        coordinates[d] = constant(0);
      } else if (&counts[d] == outermost) {
        coordinates[d] = number; // The remaining quotient is below the count.
      } else {
        Value count = space.materialize(counts[d], builder_, loc_);
        coordinates[d] = builder_.create<arith::RemUIOp>(loc_, number, count);
        number = builder_.create<arith::DivUIOp>(loc_, number, count);
      }
    }
    return coordinates;
  }

  /// Allocates the workgroup's shared memory. Usually its elements are f32. With cooperative
  /// matrices they are vectors of 16 bytes, because rows of matrices begin at multiples of 16
  /// bytes. These vectors have integer elements: a pair of f16 may have the bits of a denormal f32,
  /// which some devices flush to zero.
  Value allocatePool() {
    MemRefLayoutAttrInterface layout;
    auto shared =
        spirv::StorageClassAttr::get(builder_.getContext(), spirv::StorageClass::Workgroup);
    const Type element = tile_.matrix ? Type(VectorType::get({4}, builder_.getI32Type()))
                                      : Type(builder_.getF32Type());
    const int64_t elementBytes = tile_.matrix ? 16 : 4;
    return builder_.create<memref::AllocOp>(
        loc_, MemRefType::get({choice_.sharedBytes / elementBytes}, element, layout, shared));
  }

  /// Builds the code of the function. Fails if an operation cannot be computed by a kernel.
  LogicalResult buildBody() {
    Block *entry = &kernel_.getBody().front();
    builder_.setInsertionPointToStart(entry);
    auto end = builder_.create<func::ReturnOp>(loc_);
    builder_.setInsertionPoint(end);
    llvm::SmallVector<BuildingSink::Buffer> views;
    for (unsigned i = 0; i < tensors_.size(); ++i)
      views.push_back({entry->getArgument(2 * i), entry->getArgument(2 * i + 1), {}});
    if (kind_ == TileKind::kTexel)
      llvm::append_range(views.back().skipping,
                         entry->getArguments().take_back(kMaxSkippedElements));
    llvm::SmallVector<Value> dims;
    for (Value dim : entry->getArguments().slice(2 * tensors_.size(), dimCount_)) {
      const int64_t multiple = multipleOf(source_, dims.size());
      dims.push_back(
          multiple == 1 ? dim : builder_.create<arith::DivUIOp>(loc_, dim, constant(multiple)));
    }
    IndexSpace space;
    BuildingSink sink(builder_, loc_, space, views);
    KernelEmitter emitter(source_, tile_, kind_ == TileKind::kTexel, space, sink, dims);

    Value number = tileNumber();
    const IndexList shape = emitter.tileSpace();
    IndexList counts;
    IndexExpr tileCount(1);
    for (auto [d, extent] : llvm::enumerate(shape)) {
      counts.push_back(space.ceilDiv(extent, tile_.extent(d)));
      tileCount = space.mul(tileCount, counts.back());
    }
    guardTail(space, tileCount, number);
    const llvm::SmallVector<Value> coordinates = coordinatesOf(number, counts, space);
    if (isStaged_)
      sink.setPool(allocatePool());
    emitter.emit(
        {coordinates, id(isStaged_ && !tile_.matrix ? kInvocation : kLane), id(kSubgroup)});
    if (Operation *op = sink.unsupported())
      return op->emitError("cannot be lowered to a kernel");
    setLoops(emitter.loops());
    if (auto slices = sink.slices(); slices && tileCount.isConstant() && tileCount.constant > 0)
      setSlices(*slices, shape);
    return success();
  }

  func::FuncOp source_;
  const DeviceProfile &device_;
  const TileKind kind_;
  const TileChoice &choice_;
  const TileShape &tile_;
  const bool isStaged_; // The operands are staged in shared memory; a workgroup shares the tile.
  const int64_t grid_;
  const bool isAlternative_;
  OpBuilder builder_;
  const Location loc_;
  const llvm::SmallVector<RankedTensorType> tensors_; // Operands, then the result.
  const int64_t subgroups_;                           // See chooseSubgroups().
  const int64_t workgroupSize_;                       // In invocations.
  const int64_t tilesPerWorkgroup_;
  int64_t dimCount_ = 0;          // The number of arguments that are sizes of dynamic dimensions.
  llvm::SmallVector<Type> types_; // Types of the arguments.
  llvm::SmallVector<BindingAttr> bindings_; // Bindings of the arguments.
  func::FuncOp kernel_;
};

} // namespace

LogicalResult addKernelFunction(func::FuncOp source, const DeviceProfile &device, TileKind kind,
                                const TileChoice &choice, int64_t grid, bool isAlternative) {
  return KernelFunction(source, device, kind, choice, grid, isAlternative).build();
}

} // namespace gantry::codegen
