// emit-kernels: see Passes.td.
#include "codegen/passes/passes.h"
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/tiling/matrices.h"
#include "codegen/tiling/tile_choice.h"
#include "codegen/tiling/tile_text.h"
#include "engine/artifact/artifact.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVAttributes.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <numeric>

namespace gantry::codegen {

#define GEN_PASS_DEF_EMITKERNELS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr int64_t kWorkgroupsAlongX = artifact::kWorkgroupsAlongX;

struct EmitKernelsPass : impl::EmitKernelsBase<EmitKernelsPass> {
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr("gantry.kernel"))
      return;
    Result<DeviceProfile> found = namedProfile(profile);
    if (!found.isOk()) {
      module.emitError(found.status().message());
      return signalPassFailure();
    }
    if (sharedMemory != 0)
      found->maxSharedMemoryBytes = sharedMemory;
    for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      Kinds kinds;
      for (TileKind kind : {TileKind::baseline, TileKind::texel})
        if (kind == TileKind::baseline || found->preferTexelLoads)
          kinds.emplace_back(kind, chooseTile(function, *found, kind, candidate));
      if (found->stageOperands)
        addStaged(kinds, chooseStagedTiles(function, *found, candidate));
      if (found->features.integerDotProduct && hasDotProducts(function))
        kinds.emplace_back(TileKind::dots, chooseTile(function, *found, TileKind::dots, candidate));
      if (auto measured = module->getAttrOfType<DictionaryAttr>("gantry.measured"))
        takeMeasured(function, *found, measured, kinds);
      for (auto [index, kind] : llvm::enumerate(kinds))
        if (failed(emit(function, *found, kind.first, kind.second, static_cast<int64_t>(index))))
          return signalPassFailure();
      function.erase();
    }
  }

  using Kinds = std::vector<std::pair<TileKind, TileChoice>>; // the baseline comes first

  static void addStaged(Kinds &kinds, std::vector<TileChoice> choices) {
    for (TileChoice &choice : choices)
      kinds.emplace_back(choice.tile.matrix ? TileKind::matrices : TileKind::staged,
                         std::move(choice));
  }

  /// Puts the measured tile in the place of the predicted ones, if the kernel can have it; else the
  /// reason to what would have been it.
  static void takeMeasured(func::FuncOp function, const DeviceProfile &device,
                           DictionaryAttr measured, Kinds &kinds) {
    auto textOf = [&](StringRef name) { return measured.getAs<StringAttr>(name).getValue(); };
    const auto [name, text] = textOf("tile").split(' ');
    const std::string origin = textOf("origin").str();
    Kinds taken(kinds.begin(), kinds.begin() + 1);
    std::string misfit;
    if (name == nameOf(TileKind::staged) || name == nameOf(TileKind::matrices)) {
      if (device.stageOperands)
        addStaged(taken, chooseStagedTiles(function, device, 0, text.str()));
      if (taken.size() == 1 || name != nameOf(taken.back().first))
        misfit = "the kernel has no such tile that fits";
    } else if (name == nameOf(TileKind::baseline) ||
               (name == nameOf(TileKind::texel) && device.preferTexelLoads) ||
               (name == nameOf(TileKind::dots) && device.features.integerDotProduct)) {
      const TileKind kind = name == nameOf(TileKind::baseline) ? TileKind::baseline
                            : name == nameOf(TileKind::texel)  ? TileKind::texel
                                                               : TileKind::dots;
      if (kind == TileKind::baseline)
        taken.clear();
      Result<TileChoice> choice = measuredTile(function, device, kind, text.str());
      if (choice.isOk())
        taken.emplace_back(kind, choice.take());
      else
        misfit = choice.status().message();
    } else {
      misfit = "the profile has no tiles of that kind";
    }
    if (misfit.empty()) {
      kinds = std::move(taken);
      kinds.back().second.remarks = {"measured: " + origin};
      return;
    }
    const std::string remark = origin + ": " + textOf("tile").str() + ": not taken: " + misfit;
    for (auto &[kind, choice] : kinds)
      choice.remarks = {remark};
    if (measured.contains("told"))
      function.emitWarning(remark);
  }

  /// How a dispatch can be cut into parts: after how many workgroups a part may end, and how far
  /// each buffer advances by them.
  static void noteSlices(func::FuncOp kernel, func::FuncOp source, llvm::ArrayRef<int64_t> elements,
                         llvm::ArrayRef<IndexExpr> space, const TileShape &tile,
                         int64_t tilesPerWorkgroup) {
    size_t outermost = 0;
    while (space[outermost].constant <= tile.extent(outermost))
      ++outermost;
    int64_t tiles = 1; // in one step of the outermost coordinate
    for (size_t d = outermost + 1; d < space.size(); ++d)
      tiles *= (space[d].constant + tile.extent(d) - 1) / tile.extent(d);
    const int64_t all = std::lcm(tiles, tilesPerWorkgroup);
    const int64_t steps = space[outermost].constant / tile.extent(outermost);
    if (steps * tiles % all != 0 || all / tilesPerWorkgroup > kWorkgroupsAlongX)
      return; // a last part would have workgroups that begin beyond its end
    llvm::SmallVector<int64_t> bytes;
    for (auto [step, type] : llvm::zip(elements, tensorTypesOf(source)))
      bytes.push_back(step * (all / tiles) * std::max(1u, type.getElementTypeBitWidth() / 8));
    OpBuilder builder(kernel);
    kernel->setAttr("gantry.slice_workgroups", builder.getI64IntegerAttr(all / tilesPerWorkgroup));
    kernel->setAttr("gantry.slice_bytes", builder.getDenseI64ArrayAttr(bytes));
  }

  /// Of the kernel's buffers: operands, then the result.
  static llvm::SmallVector<RankedTensorType> tensorTypesOf(func::FuncOp source) {
    llvm::SmallVector<RankedTensorType> types;
    for (Type type : source.getArgumentTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        types.push_back(tensor);
    types.push_back(cast<RankedTensorType>(source.getResultTypes().front()));
    return types;
  }

  static StringRef nameOf(TileKind kind) {
    switch (kind) {
    case TileKind::baseline:
      return "baseline";
    case TileKind::texel:
      return "texel";
    case TileKind::staged:
      return "staged";
    case TileKind::matrices:
      return "matrices";
    case TileKind::dots:
      return "dots";
    }
    llvm_unreachable("no other kinds");
  }

  /// One way to compute `source`, beside it: the baseline, which any device can do, or what the
  /// device does best. grid: the place among these.
  LogicalResult emit(func::FuncOp source, const DeviceProfile &device, TileKind kind,
                     const TileChoice &choice, int64_t grid) {
    const TileShape &tile = choice.tile;
    const bool staged = !tile.threads.empty();
    OpBuilder builder(source);
    Location loc = source.getLoc();
    auto result = cast<RankedTensorType>(source.getResultTypes().front());
    int64_t workgroupSize = std::min(device.preferredWorkgroupSize, device.maxWorkgroupInvocations);
    int64_t invocations = 1;
    for (auto [d, extent] : llvm::enumerate(tile.spaceOf(result.getShape()))) {
      if (ShapedType::isDynamic(extent) || invocations < 0)
        invocations = -1;
      else if (tile.lanes == 1 && !staged)
        invocations *= (extent + tile.extent(d) - 1) / tile.extent(d);
    }
    if (tile.lanes > 1) // a workgroup is a subgroup and has a tile of its own
      workgroupSize = tile.lanes;
    if (staged)
      workgroupSize = std::accumulate(tile.threads.begin(), tile.threads.end(), int64_t(1),
                                      std::multiplies<>());
    while (!staged && invocations > 0 && workgroupSize > device.subgroupSize && workgroupSize > 8 &&
           workgroupSize / 2 >= invocations)
      workgroupSize /= 2;

    // The signature: both views of each buffer, dims, ids.
    llvm::SmallVector<Type> types;
    llvm::SmallVector<NamedAttribute> none;
    llvm::SmallVector<std::pair<StringRef, int64_t>> roles;
    llvm::SmallVector<unsigned> halves; // f16 read as texels, which are f32
    auto storage = spirv::StorageClassAttr::get(&getContext(), spirv::StorageClass::StorageBuffer);
    const int64_t tensors =
        llvm::count_if(source.getArgumentTypes(), llvm::IsaPred<RankedTensorType>);
    auto addBuffer = [&](RankedTensorType type, int64_t binding) {
      Type element = type.getElementType();
      if (element.isInteger(1))
        element = builder.getI8Type();
      MemRefLayoutAttrInterface layout;
      types.push_back(MemRefType::get({ShapedType::kDynamic}, element, layout, storage));
      // Operands of the kernel for texel loads; its result is stored as it is.
      const bool asTexels = kind == TileKind::texel && binding < tensors;
      Type vector = groupTypeOf(element, asTexels);
      if (!vector)
        vector = element;
      types.push_back(MemRefType::get({ShapedType::kDynamic}, vector, layout, storage));
      roles.push_back({"gantry.binding", binding});
      roles.push_back({"gantry.binding", binding});
      if (element.isF16() && asTexels)
        halves.push_back(types.size() - 1);
    };
    int64_t buffers = 0, dims = 0;
    for (Type type : source.getArgumentTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        addBuffer(tensor, buffers++);
    addBuffer(result, buffers++);
    for (Type type : source.getArgumentTypes()) {
      if (isa<RankedTensorType>(type))
        continue;
      types.push_back(builder.getIndexType());
      roles.push_back({"gantry.dim", dims++});
    }
    for (int64_t i = 0; i < 5; ++i) { // workgroup x and y, invocation, lane, subgroup
      types.push_back(builder.getIndexType());
      roles.push_back({"gantry.builtin", i});
    }

    std::string name = source.getName().str();
    auto kernel = builder.create<func::FuncOp>(loc, name, builder.getFunctionType(types, {}));
    Block *entry = kernel.addEntryBlock();
    for (auto [i, role] : llvm::enumerate(roles))
      kernel.setArgAttr(i, role.first, builder.getI64IntegerAttr(role.second));
    for (unsigned argument : halves)
      kernel.setArgAttr(argument, "gantry.texels_of", TypeAttr::get(builder.getF16Type()));
    kernel->setAttr("gantry.buffers", builder.getI64IntegerAttr(buffers));
    kernel->setAttr("gantry.dims", builder.getI64IntegerAttr(dims));
    kernel->setAttr("gantry.workgroup_size", builder.getI64IntegerAttr(workgroupSize));
    llvm::SmallVector<int64_t> extents;
    for (size_t d = 0; d < tile.result.size(); ++d)
      extents.push_back(tile.extent(d));
    kernel->setAttr("gantry.tile", builder.getDenseI64ArrayAttr(extents));
    kernel->setAttr("gantry.merged",
                    builder.getI64IntegerAttr(std::min<int64_t>(tile.merged, result.getRank())));
    kernel->setAttr("gantry.grid", builder.getI64IntegerAttr(grid));
    kernel->setAttr("gantry.lanes", builder.getI64IntegerAttr(tile.lanes));
    if (tile.matrix)
      kernel->setAttr("gantry.matrices", builder.getStringAttr(capabilityOf(*halfShapeOf(device))));
    if (const int64_t size = tile.matrix ? tile.matrix.lanes : tile.lanes; size > 1)
      kernel->setAttr("gantry.subgroup_size", builder.getI64IntegerAttr(size));
    if (kind == TileKind::texel)
      kernel->setAttr("gantry.texels", builder.getUnitAttr());
    if (staged) {
      kernel->setAttr("gantry.boxes_bytes", builder.getI64IntegerAttr(choice.boxesBytes));
      kernel->setAttr("gantry.shared_bytes", builder.getI64IntegerAttr(choice.sharedBytes));
    }
    llvm::SmallVector<StringRef> ladder(choice.remarks.begin(), choice.remarks.end());
    ladder.append(choice.ladder.begin(), choice.ladder.end());
    source.walk([&](linalg::GenericOp op) { // what was decided before: form-dispatches
      if (auto why = op->getAttrOfType<StringAttr>("gantry.why"))
        ladder.push_back(why);
    });
    if (!ladder.empty())
      kernel->setAttr("gantry.ladder", builder.getStrArrayAttr(ladder));
    kernel->setAttr("gantry.exact_tile",
                    builder.getStringAttr(nameOf(kind) + " " + exactTile(tile)));
    kernel->setAttr("gantry.tiles_per_workgroup",
                    builder.getI64IntegerAttr(tile.lanes > 1 || staged ? 1 : workgroupSize));
    kernel->setAttr(
        "gantry.tile_text",
        builder.getStringAttr(describeTile(tile) + (tile.matrix ? "" : " per invocation")));
    builder.setInsertionPointToStart(entry);
    auto end = builder.create<func::ReturnOp>(loc);
    builder.setInsertionPoint(end);

    llvm::SmallVector<KernelEvaluator::Buffer> views;
    for (int64_t i = 0; i < buffers; ++i)
      views.push_back({entry->getArgument(2 * i), entry->getArgument(2 * i + 1)});
    ValueRange dimArguments = entry->getArguments().slice(2 * buffers, dims);
    KernelEvaluator evaluator(source, tile, &builder, views, dimArguments);

    // The linear id of the invocation, taken apart into tile coordinates, innermost first.
    IndexSpace &space = evaluator.space();
    auto constant = [&](int64_t value) -> Value {
      return builder.create<arith::ConstantIndexOp>(loc, value);
    };
    size_t first = 2 * buffers + dims;
    Value group = builder.create<arith::AddIOp>(
        loc,
        builder.create<arith::MulIOp>(loc, entry->getArgument(first + 1),
                                      constant(kWorkgroupsAlongX)),
        entry->getArgument(first));
    Value id = group; // of the tile
    if (tile.lanes == 1 && !staged)
      id = builder.create<arith::AddIOp>(
          loc, builder.create<arith::MulIOp>(loc, group, constant(workgroupSize)),
          entry->getArgument(first + 2));
    llvm::SmallVector<IndexExpr> shape = evaluator.tileSpace();
    llvm::SmallVector<Value> counts;
    IndexExpr total(1);
    for (auto [d, extent] : llvm::enumerate(shape)) {
      IndexExpr count = space.ceilDiv(extent, tile.extent(d));
      total = space.mul(total, count);
      counts.push_back(space.materialize(count, builder, loc));
    }
    const int64_t idsPerWorkgroup = tile.lanes > 1 || staged ? 1 : workgroupSize;
    if (!total.isConstant() || total.constant % idsPerWorkgroup != 0 ||
        total.constant / idsPerWorkgroup > kWorkgroupsAlongX) {
      Value inside = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, id,
                                                   space.materialize(total, builder, loc));
      auto guard = builder.create<scf::IfOp>(loc, inside);
      builder.setInsertionPoint(guard.thenBlock()->getTerminator());
    }
    llvm::SmallVector<Value> coordinates(shape.size());
    Value rest = id;
    for (size_t d = shape.size(); d-- > 0;) {
      if (d == 0) {
        coordinates[d] = rest;
        break;
      }
      coordinates[d] = builder.create<arith::RemUIOp>(loc, rest, counts[d]);
      rest = builder.create<arith::DivUIOp>(loc, rest, counts[d]);
    }
    if (staged) {
      MemRefLayoutAttrInterface layout;
      auto shared = spirv::StorageClassAttr::get(&getContext(), spirv::StorageClass::Workgroup);
      // Matrices want rows at multiples of 16 bytes; words that hold halves are no floats, for some
      // devices change what looks denormal.
      const Type element = tile.matrix ? Type(VectorType::get({4}, builder.getI32Type()))
                                       : Type(builder.getF32Type());
      const int64_t bytes = tile.matrix ? 16 : 4;
      evaluator.setPool(builder.create<memref::AllocOp>(
          loc, MemRefType::get({choice.sharedBytes / bytes}, element, layout, shared)));
    }
    evaluator.run(coordinates, entry->getArgument(staged && !tile.matrix ? first + 2 : first + 3),
                  entry->getArgument(first + 4));
    if (Operation *op = evaluator.unsupported())
      return op->emitError("cannot be lowered to a kernel");
    const OperationCounts &counted = evaluator.counts();
    kernel->setAttr("gantry.loop_rounds", builder.getI64IntegerAttr(static_cast<int64_t>(std::min(
                                              counted.rounds, static_cast<double>(UINT32_MAX)))));
    llvm::SmallVector<int64_t> loopDims(counted.loopDims.begin(), counted.loopDims.end());
    kernel->setAttr("gantry.loop_dims", builder.getDenseI64ArrayAttr(loopDims));
    if (auto slices = evaluator.slices(); slices && total.isConstant() && total.constant > 0)
      noteSlices(kernel, source, *slices, evaluator.tileSpace(), tile, idsPerWorkgroup);
    if (kind != TileKind::baseline)
      kernel.setName(name + "_" + nameOf(kind).str());

    llvm::BitVector unused(entry->getNumArguments());
    for (BlockArgument argument : entry->getArguments())
      if (argument.use_empty())
        unused.set(argument.getArgNumber());
    kernel.eraseArguments(unused);
    return success();
  }
};

} // namespace
} // namespace gantry::codegen
