// Implements the pass emit-kernels (Passes.td), which chooses tiles for a kernel and lowers it from
// linalg on tensors to functions on buffers. A tile is the part of the result that an invocation, a
// subgroup or a workgroup computes. tile_choice.h chooses tiles, and kernel_function.h builds the
// function for a tile; this file decides which tiles a kernel gets. A texel tile is a tile for
// devices that read buffers fastest as texels; the baseline tile runs on every device.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/kernel_function.h"
#include "codegen/passes/passes.h"
#include "codegen/tiling/tile_choice.h"
#include "codegen/tiling/tile_cost.h"
#include "codegen/tiling/tile_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace gantry::codegen {

#define GEN_PASS_DEF_EMITKERNELS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

/// A kernel with dynamic dimensions gets a tile for each of these extents. All its dynamic
/// dimensions are assumed to have this extent. The runtime chooses among the tiles when it knows
/// the sizes; until then, it takes the last.
constexpr int64_t kDynamicExtents[] = {1, 4, 16, kTypicalDynamicExtent};

/// A kernel with a dynamic dimension along which a tensor's elements are neighbours in memory may
/// get another tile, which is valid if the dimension is a multiple of this number. It is the number
/// of elements of a vector.
constexpr int64_t kDimMultiple = 4;

/// A tile for which a function on buffers is generated.
struct Variant {
  TileKind kind;
  TileChoice choice;
  // The kernel's function on tensors, or a copy of it that only this variant uses
  // (copyForMultiples()).
  func::FuncOp source;
};
/// All tiles of a kernel. The baseline comes first.
using Variants = std::vector<Variant>;

/// Returns a copy of the function in which each dim that is the last extent of a tensor is assumed
/// to be a multiple of kDimMultiple. A dim is an argument with a dynamic size. Returns null if no
/// dim is a last extent. The copy is in the module, and has the name of the function, until the
/// caller erases it.
func::FuncOp copyForMultiples(func::FuncOp function) {
  const auto signature = attributeOf<SignatureAttr>(function);
  if (!signature)
    return {};
  llvm::SmallVector<int64_t> multiples;
  const auto addLasts = [&](TypeRange types, llvm::ArrayRef<int64_t> dims) {
    size_t next = 0; // The next entry of dims, which has one for each dynamic extent.
    for (Type type : types) {
      const auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      next += tensor.getNumDynamicDims();
      if (tensor.getRank() > 0 && ShapedType::isDynamic(tensor.getShape().back()))
        multiples[dims[next - 1]] = kDimMultiple;
    }
  };
  const size_t tensors =
      llvm::count_if(function.getArgumentTypes(), llvm::IsaPred<RankedTensorType>);
  multiples.assign(function.getNumArguments() - tensors, 1);
  addLasts(function.getArgumentTypes(), signature.getOperandDims());
  addLasts(function.getResultTypes(), signature.getResultDims());
  if (llvm::all_of(multiples, [](int64_t multiple) { return multiple == 1; }))
    return {};
  OpBuilder builder(function);
  // A function on buffers is inserted before its function on tensors. The copy comes after
  // `function`, so that the baseline, which is made from `function`, is the module's first
  // function.
  builder.setInsertionPointAfter(function);
  auto copy = cast<func::FuncOp>(builder.clone(*function));
  setAttribute(copy, SignatureAttr::get(function.getContext(), signature.getOperandDims(),
                                        signature.getResultDims(), signature.getLayouts(),
                                        signature.getRows(), multiples));
  return copy;
}

/// Adds the cheapest texel tile of `copy`, a function made by copyForMultiples(), if it costs less
/// than the last tile of `variants`, which is for any size. Otherwise erases the function.
/// candidate: how many of the cheapest tiles to skip.
void addForMultiples(Variants &variants, func::FuncOp copy, const DeviceProfile &device,
                     size_t candidate) {
  const Variant &general = variants.back();
  const auto costOf = [&](func::FuncOp function, const TileShape &tile) {
    const auto extents = extentsOf(function).assumedResult();
    return predictTile(function, device, CostModel::kTexels, tile, extents).cost;
  };
  TileChoice choice = chooseTile(copy, device, TileKind::kTexel, candidate);
  if (costOf(copy, choice.tile) < costOf(general.source, general.choice.tile))
    variants.push_back({TileKind::kTexel, std::move(choice), copy});
  else
    copy.erase();
}

/// Adds the cheapest texel tile. For a kernel with dynamic dimensions, adds the cheapest one for
/// each of kDynamicExtents, without duplicates, and perhaps one for multiples of kDimMultiple.
void addTexel(Variants &variants, func::FuncOp function, const DeviceProfile &device,
              size_t candidate) {
  if (cast<RankedTensorType>(function.getResultTypes().front()).hasStaticShape()) {
    variants.push_back(
        {TileKind::kTexel, chooseTile(function, device, TileKind::kTexel, candidate), function});
    return;
  }
  std::vector<TileChoice> choices;
  for (int64_t extent : kDynamicExtents) {
    TileChoice choice = chooseTile(function, device, TileKind::kTexel, candidate, extent);
    llvm::erase_if(choices, [&](const TileChoice &other) {
      return exactTile(other.tile) == exactTile(choice.tile);
    });
    choices.push_back(std::move(choice));
  }
  for (TileChoice &choice : choices)
    variants.push_back({TileKind::kTexel, std::move(choice), function});
  if (func::FuncOp copy = copyForMultiples(function))
    addForMultiples(variants, copy, device, candidate);
}

/// Adds the tiles that chooseStagedTiles() (tile_choice.h) has returned, whose operands are staged
/// in shared memory, each with its kind.
void addStaged(Variants &variants, func::FuncOp function, std::vector<TileChoice> choices) {
  for (TileChoice &choice : choices)
    variants.push_back({choice.tile.matrix ? TileKind::kMatrices : TileKind::kStaged,
                        std::move(choice), function});
}

/// Returns whether the profile says that kernels with tiles of this kind run on the device and are
/// worth generating.
bool hasKind(const DeviceProfile &device, TileKind kind) {
  switch (kind) {
  case TileKind::kBaseline:
    return true;
  case TileKind::kTexel:
    return device.preferTexelLoads;
  case TileKind::kStaged:
  case TileKind::kMatrices:
    return device.stageOperands;
  case TileKind::kDots:
    return device.features.integerDotProduct;
  case TileKind::kSubgroup:
    return !device.preferTexelLoads && device.subgroupSize > 1 && device.features.subgroupShuffle;
  }
  llvm_unreachable("there are no other kinds");
}

/// Adds the tile with this kind and the exact text `text` (tile_text.h) to `variants`, which
/// contains only the predicted baseline tile. If the tile is itself a baseline, it replaces the
/// predicted one. Returns an empty string, or the reason why the kernel cannot have the tile.
std::string addMeasured(Variants &variants, func::FuncOp function, const DeviceProfile &device,
                        TileKind kind, StringRef text) {
  const bool isStaged = kind == TileKind::kStaged || kind == TileKind::kMatrices;
  if (!isStaged && !hasKind(device, kind))
    return "the profile has no tiles of that kind";
  if (isStaged) {
    if (hasKind(device, kind))
      addStaged(variants, function, chooseStagedTiles(function, device, 0, text.str()));
    return variants.size() > 1 && variants.back().kind == kind
               ? ""
               : "no tile of this kind that fits into shared memory has this text";
  }
  Result<TileChoice> choice = measuredTile(function, device, kind, text.str());
  if (!choice.isOk())
    return choice.status().message();
  if (kind == TileKind::kBaseline)
    variants.clear();
  variants.push_back({kind, choice.take(), function});
  return {};
}

/// Replaces the predicted tiles by the tile from a table of measured tiles, if the kernel can have
/// this tile. The predicted baseline is kept unless the measured tile is a baseline. If the kernel
/// cannot have the measured tile, adds the reason to the remarks of the predicted tiles, and warns
/// if the user gave the table.
void takeMeasured(func::FuncOp function, const DeviceProfile &device, MeasuredAttr measured,
                  Variants &variants) {
  const std::string origin = measured.getOrigin().str();
  Variants taken(variants.begin(), variants.begin() + 1);
  const std::string misfit =
      addMeasured(taken, function, device, measured.getKind(), measured.getTile().getValue());
  if (misfit.empty()) {
    for (Variant &variant : variants)
      if (variant.source != function)
        variant.source.erase();
    variants = std::move(taken);
    variants.back().choice.remarks = {"measured: " + origin};
    return;
  }
  const std::string remark = origin + ": " + stringifyTileKind(measured.getKind()).str() + " " +
                             measured.getTile().str() + ": not taken: " + misfit;
  for (Variant &variant : variants)
    variant.choice.remarks = {remark};
  if (measured.getRequested())
    function.emitWarning(remark);
}

struct EmitKernelsPass : impl::EmitKernelsBase<EmitKernelsPass> {
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const auto kernel = attributeOf<KernelAttr>(module);
    if (!kernel)
      return;
    Result<DeviceProfile> device = namedProfile(profile);
    if (!device.isOk()) {
      module.emitError(device.status().message());
      return signalPassFailure();
    }
    if (sharedMemory != 0)
      device->maxSharedMemoryBytes = sharedMemory;
    for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      Variants variants = predict(function, *device);
      if (MeasuredAttr measured = kernel.getMeasured())
        takeMeasured(function, *device, measured, variants);
      for (auto [grid, variant] : llvm::enumerate(variants)) {
        const bool isAlternative = llvm::count_if(variants, [&](const Variant &other) {
                                     return other.kind == variant.kind;
                                   }) > 1;
        if (failed(addKernelFunction(variant.source, *device, variant.kind, variant.choice,
                                     static_cast<int64_t>(grid), isAlternative)))
          return signalPassFailure();
      }
      for (const Variant &variant : variants)
        if (variant.source != function)
          variant.source->erase();
      function.erase();
    }
  }

  /// Returns the cheapest predicted tile of each kind that hasKind() accepts. There may be several
  /// of some kinds; see addTexel() and addStaged().
  Variants predict(func::FuncOp function, const DeviceProfile &device) const {
    Variants variants;
    variants.push_back({TileKind::kBaseline,
                        chooseTile(function, device, TileKind::kBaseline, candidate), function});
    if (hasKind(device, TileKind::kTexel))
      addTexel(variants, function, device, candidate);
    if (hasKind(device, TileKind::kStaged))
      addStaged(variants, function, chooseStagedTiles(function, device, candidate));
    if (hasKind(device, TileKind::kSubgroup)) {
      std::vector<TileShape> others;
      for (const Variant &variant : variants)
        others.push_back(variant.choice.tile);
      if (auto choice = chooseSubgroupTile(function, device, others))
        variants.push_back({TileKind::kSubgroup, std::move(*choice), function});
    }
    if (hasKind(device, TileKind::kDots) && hasDotProducts(function))
      variants.push_back(
          {TileKind::kDots, chooseTile(function, device, TileKind::kDots, candidate), function});
    return variants;
  }
};

} // namespace
} // namespace gantry::codegen
