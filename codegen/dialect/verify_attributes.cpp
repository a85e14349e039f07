// The verifiers of the dialect's attributes. They check the contents of each attribute, and whether
// the operation, argument or result that has it may have it. GantryAttributes.td defines the
// parameters that the messages name.
#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <cstdint>

namespace gantry::codegen {

using namespace mlir;

using Diagnose = llvm::function_ref<InFlightDiagnostic()>;

// ---- Contents of attributes --------------------------------------------------------------------

namespace {

/// Checks that each of the parameters (name, value) of an attribute is at least `min`.
LogicalResult verifyMin(Diagnose error, llvm::StringRef attribute, int64_t min,
                        std::initializer_list<std::pair<llvm::StringRef, int64_t>> parameters) {
  for (const auto &[name, value] : parameters)
    if (value < min)
      return error() << name << " of " << attribute << " is " << value << "; it must be at least "
                     << min;
  return success();
}

/// Checks that no entry of the list `name` of an attribute is negative.
LogicalResult verifyNonNegative(Diagnose error, llvm::StringRef attribute, llvm::StringRef name,
                                llvm::ArrayRef<int64_t> list) {
  for (int64_t entry : list)
    if (entry < 0)
      return error() << name << " of " << attribute << " contains " << entry
                     << "; its entries must be at least 0";
  return success();
}

/// Checks that the text parameter `name` of an attribute is not empty.
LogicalResult verifyText(Diagnose error, llvm::StringRef attribute, llvm::StringRef name,
                         StringAttr text) {
  if (text.getValue().empty())
    return error() << name << " of " << attribute << " is empty";
  return success();
}

} // namespace

LogicalResult DimAttr::verify(Diagnose error, StringAttr name, int64_t min, int64_t max) {
  if (min < 0 || max < 0 || (max > 0 && max < min))
    return error() << "dimension " << name << " has sizes from " << min << " to " << max
                   << "; min must be at least 0, and max 0 (no limit) or at least min";
  return success();
}

LogicalResult PortAttr::verify(Diagnose error, StringAttr name, llvm::ArrayRef<DimAttr> dims, bool,
                               bool) {
  if (failed(verifyText(error, "a port", "name", name)))
    return failure();
  for (DimAttr upper : dims)
    for (DimAttr lower : dims)
      if (upper.getName() == lower.getName() && !upper.getName().getValue().empty() &&
          upper.getMax() > 0 && upper.getMax() < lower.getMin())
        return error() << "port " << name << " limits dimension " << upper.getName()
                       << " to sizes of at least " << lower.getMin() << " and at most "
                       << upper.getMax();
  return success();
}

LogicalResult StateAttr::verify(Diagnose error, int64_t, ElementsAttr,
                                llvm::ArrayRef<int64_t> order) {
  for (int64_t d = 0; d < static_cast<int64_t>(order.size()); ++d)
    if (!llvm::is_contained(order, d))
      return error() << "order of a state lacks dimension " << d << "; it must have each of its "
                     << order.size() << " dimensions once";
  return success();
}

LogicalResult RequirementsAttr::verify(Diagnose error, llvm::ArrayRef<StringAttr> symbols,
                                       llvm::ArrayRef<AffineMap> nonNegative) {
  for (AffineMap map : nonNegative)
    if (map.getNumDims() != 0 || map.getNumSymbols() != symbols.size() || map.getNumResults() != 1)
      return error() << "a requirement has " << map.getNumDims() << " dims, " << map.getNumSymbols()
                     << " symbols and " << map.getNumResults() << " results; it must have 0 dims, "
                     << symbols.size() << " symbols and 1 result";
  return success();
}

LogicalResult OrderAttr::verify(Diagnose error, int64_t modelPeakBytes, int64_t modelStages,
                                int64_t stages) {
  return verifyMin(
      error, "an order", 0,
      {{"model_peak_bytes", modelPeakBytes}, {"model_stages", modelStages}, {"stages", stages}});
}

LogicalResult BudgetAttr::verify(Diagnose error, int64_t bytes, int64_t peakBefore,
                                 int64_t recomputed, int64_t recomputedPeak, int64_t moved) {
  if (failed(verifyMin(error, "a budget", 1, {{"bytes", bytes}})))
    return failure();
  return verifyMin(error, "a budget", 0,
                   {{"peak_before", peakBefore},
                    {"recomputed", recomputed},
                    {"recomputed_peak", recomputedPeak},
                    {"moved", moved}});
}

LogicalResult StripChainAttr::verify(Diagnose error, StringAttr, StringAttr, int64_t count, int64_t,
                                     int64_t operations) {
  if (failed(verifyMin(error, "a chain of strips", 2, {{"count", count}})))
    return failure();
  return verifyMin(error, "a chain of strips", 0, {{"operations", operations}});
}

LogicalResult StripsAttr::verify(Diagnose error, llvm::ArrayRef<StripChainAttr> chains,
                                 int64_t modelOperations) {
  if (chains.empty())
    return error() << "strips list no chain";
  return verifyMin(error, "strips", 0, {{"model_operations", modelOperations}});
}

LogicalResult LayoutAttr::verify(Diagnose error, llvm::ArrayRef<int64_t> parts,
                                 llvm::ArrayRef<int64_t> within, int64_t start,
                                 llvm::ArrayRef<int64_t> steps) {
  for (const int64_t extent : within)
    if (extent < 1 && extent != -1)
      return error() << "within of a layout contains " << extent
                     << "; its entries must be at least 1, or -1";
  if (start < 0)
    return error() << "start of a layout is " << start << "; it must be at least 0";
  if (!steps.empty() && steps.size() != within.size())
    return error() << "steps of a layout has " << steps.size() << " entries, but within has "
                   << within.size();
  for (const int64_t step : steps)
    if (step < 1)
      return error() << "steps of a layout contains " << step << "; its entries must be at least 1";
  if (parts.size() % 2 != 0)
    return error() << "a layout lists pairs of a dimension and a block, not " << parts.size()
                   << " numbers";
  for (size_t i = 0; i < parts.size(); i += 2) {
    if (parts[i] < 0 || parts[i + 1] < 1)
      return error() << "a layout has dimension " << parts[i] << " in blocks of " << parts[i + 1]
                     << "; the dimension must be at least 0 and the block at least 1";
    bool hasUnitBlock = false;
    for (size_t j = 0; j < parts.size(); j += 2)
      hasUnitBlock |= parts[j] == parts[i] && parts[j + 1] == 1;
    if (!hasUnitBlock)
      return error() << "a layout lacks the part of dimension " << parts[i] << " in blocks of 1";
  }
  return success();
}

LogicalResult MeasuredAttr::verify(Diagnose error, TileKind, StringAttr tile, StringAttr origin,
                                   bool) {
  if (failed(verifyText(error, "a measured tile", "tile", tile)))
    return failure();
  return verifyText(error, "a measured tile", "origin", origin);
}

LogicalResult KernelAttr::verify(Diagnose error, StringAttr key, MeasuredAttr,
                                 int64_t programSteps) {
  constexpr size_t kKeyDigits = 16;
  if (key && (key.size() != kKeyDigits ||
              key.getValue().find_first_not_of("0123456789abcdef") != llvm::StringRef::npos))
    return error() << "the key of a kernel has " << kKeyDigits
                   << " lower-case hexadecimal digits; it is " << key;
  if (programSteps < 0)
    return error() << "program_steps of a kernel is " << programSteps << "; it must be at least 0";
  return success();
}

/// Checks that the entries of dim_multiples are at least 1. Dim i (a dynamic size) of the kernel is
/// a multiple of entry i. `owner` is the attribute's name in messages.
static LogicalResult verifyMultiples(Diagnose error, llvm::StringRef owner,
                                     llvm::ArrayRef<int64_t> multiples) {
  for (int64_t multiple : multiples)
    if (multiple < 1)
      return error() << "dim_multiples of " << owner << " contains " << multiple
                     << "; its entries must be at least 1";
  return success();
}

LogicalResult SignatureAttr::verify(Diagnose error, llvm::ArrayRef<int64_t> operandDims,
                                    llvm::ArrayRef<int64_t> resultDims, llvm::ArrayRef<LayoutAttr>,
                                    bool, llvm::ArrayRef<int64_t> dimMultiples) {
  if (failed(verifyMultiples(error, "a signature", dimMultiples)))
    return failure();
  if (failed(verifyNonNegative(error, "a signature", "operand_dims", operandDims)))
    return failure();
  return verifyNonNegative(error, "a signature", "result_dims", resultDims);
}

LogicalResult TileAttr::verify(Diagnose error, TileKind kind, int64_t grid,
                               llvm::ArrayRef<int64_t> extents, int64_t merged, int64_t lanes,
                               int64_t cost, llvm::ArrayRef<int64_t> dimMultiples, StringAttr text,
                               StringAttr exact) {
  if (failed(verifyMultiples(error, "a tile", dimMultiples)))
    return failure();
  if (!dimMultiples.empty() && cost == 0)
    return error() << "a tile for multiples must have a cost, by which a session chooses it";
  if ((grid == 0) != (kind == TileKind::kBaseline))
    return error() << "grid of a " << stringifyTileKind(kind) << " tile is " << grid
                   << "; it must be 0 for the baseline and not 0 for other kinds";
  if (grid < 0 || lanes < 1 || llvm::any_of(extents, [](int64_t extent) { return extent < 1; }))
    return error() << "a tile has a grid of at least 0, and at least 1 lane and 1 element along "
                      "every dimension";
  if (merged < 0 || merged > static_cast<int64_t>(extents.size()))
    return error() << "merged of a tile is " << merged
                   << "; it must be at least 0 and at most the number of extents, "
                   << extents.size();
  if (cost < 0)
    return error() << "cost of a tile is " << cost << "; it must be at least 0";
  if (failed(verifyText(error, "a tile", "text", text)))
    return failure();
  return verifyText(error, "a tile", "exact", exact);
}

LogicalResult LaunchAttr::verify(Diagnose error, int64_t buffers, int64_t dims,
                                 int64_t workgroupSize, int64_t tilesPerWorkgroup,
                                 int64_t subgroupSize, int64_t sharedBytes, int64_t stagedBytes,
                                 StringAttr) {
  if (buffers < 1 || workgroupSize < 1 || tilesPerWorkgroup < 1)
    return error() << "a launch has at least 1 buffer, invocation and tile; it has " << buffers
                   << ", " << workgroupSize << " and " << tilesPerWorkgroup;
  if (dims < 0 || subgroupSize < 0 || sharedBytes < 0 || stagedBytes < 0)
    return error() << "a launch has " << dims << " dims, a subgroup size of " << subgroupSize
                   << ", " << sharedBytes << " shared bytes and " << stagedBytes
                   << " staged bytes; each must be at least 0";
  return success();
}

LogicalResult LoopsAttr::verify(Diagnose error, int64_t rounds, llvm::ArrayRef<int64_t> dims) {
  if (rounds < 0 || rounds > UINT32_MAX)
    return error() << "the loops have " << rounds << " rounds; the number must be at least 0 and "
                   << "at most " << UINT32_MAX;
  if (failed(verifyNonNegative(error, "the loops", "dims", dims)))
    return failure();
  for (size_t i = 1; i < dims.size(); ++i)
    if (dims[i] <= dims[i - 1])
      return error() << "the dims of the loops are not in ascending order: " << dims[i - 1]
                     << " is before " << dims[i];
  return success();
}

LogicalResult SlicesAttr::verify(Diagnose error, int64_t workgroups,
                                 llvm::ArrayRef<int64_t> bytes) {
  if (failed(verifyMin(error, "the slices", 1, {{"workgroups", workgroups}})))
    return failure();
  return verifyNonNegative(error, "the slices", "bytes", bytes);
}

LogicalResult PredictionAttr::verify(Diagnose error, int64_t cost, int64_t accesses,
                                     int64_t vectorAccesses) {
  if (failed(
          verifyMin(error, "the prediction", 0,
                    {{"cost", cost}, {"accesses", accesses}, {"vector_accesses", vectorAccesses}})))
    return failure();
  if (vectorAccesses > accesses)
    return error() << "the prediction has " << vectorAccesses
                   << " vector accesses; it must have at "
                   << "most as many as accesses, " << accesses;
  return success();
}

LogicalResult RemarksAttr::verify(Diagnose error, llvm::ArrayRef<StringAttr> texts) {
  for (auto [i, text] : llvm::enumerate(texts))
    if (text.getValue().empty())
      return error() << "remark " << i << " is empty";
  return success();
}

LogicalResult BindingAttr::verify(Diagnose error, ArgumentRole role, int64_t index, Type texelsOf,
                                  int64_t skipped) {
  const bool numbered = role == ArgumentRole::kBuffer || role == ArgumentRole::kDim;
  if (numbered != (index >= 0))
    return error() << "a binding of a " << stringifyArgumentRole(role)
                   << (numbered ? " needs an index" : " has no index");
  if (texelsOf && role != ArgumentRole::kBuffer)
    return error() << "a " << stringifyArgumentRole(role) << " is not read as texels";
  if (skipped < 0 || skipped > kMaxSkippedElements)
    return error() << "skipped is " << skipped << "; it must be from 0 to " << kMaxSkippedElements;
  if (skipped > 0 && (role != ArgumentRole::kBuffer || texelsOf))
    return error() << "only a view of a buffer's vectors skips elements, not "
                   << (texelsOf ? "texels" : stringifyArgumentRole(role).str());
  return success();
}

LogicalResult TexelViewAttr::verify(Diagnose error, int64_t buffer, TexelFormat, bool) {
  return verifyMin(error, "a texel view", 0, {{"buffer", buffer}});
}

LogicalResult BuffersAttr::verify(Diagnose error, BindingMode mode,
                                  llvm::ArrayRef<TexelViewAttr> views) {
  if (mode != BindingMode::kTexel && !views.empty())
    return error() << "buffers of the mode " << stringifyBindingMode(mode) << " have no texel "
                   << "views, not " << views.size();
  for (size_t i = 1; i < views.size(); ++i)
    if (views[i].getBuffer() <= views[i - 1].getBuffer())
      return error() << "the texel views are not in the order of their buffers: "
                     << views[i - 1].getBuffer() << " is before " << views[i].getBuffer();
  return success();
}

// ---- Operations that may have an attribute -----------------------------------------------------

namespace {

/// Checks that the attribute has the type Attr, and that `op` is one of Ops. Without Ops, any
/// operation may have the attribute.
template <typename Attr, typename... Ops>
LogicalResult verifyOn(Operation *op, NamedAttribute attribute) {
  if (!isa<Attr>(attribute.getValue()))
    return op->emitError() << "attribute " << attribute.getName()
                           << " has the wrong type: " << attribute.getValue();
  if constexpr (sizeof...(Ops) > 0) {
    if (!isa<Ops...>(op))
      return op->emitError() << "attribute " << attribute.getName() << " does not belong to '"
                             << op->getName() << "'";
  }
  return success();
}

/// Returns the rule of an attribute with a type of this dialect: its name and its check.
template <typename Attr, typename... Ops>
std::pair<llvm::StringRef, LogicalResult (*)(Operation *, NamedAttribute)> rule() {
  return {Attr::name, verifyOn<Attr, Ops...>};
}
/// Returns the same for an attribute with a builtin type.
template <typename Helper, typename Attr, typename... Ops>
std::pair<llvm::StringRef, LogicalResult (*)(Operation *, NamedAttribute)> builtinRule() {
  return {Helper::getNameStr(), verifyOn<Attr, Ops...>};
}

/// Checks that the loops, slices or texel views in `attribute` refer to dims and buffers that the
/// launch of the same operation has. Any other attribute, and an operation without a launch, is
/// accepted.
LogicalResult verifyIndices(Operation *op, Attribute attribute) {
  const auto launch = attributeOf<LaunchAttr>(op);
  if (!launch)
    return success();
  const int64_t buffers = launch.getBuffers(), dims = launch.getDims();
  if (auto loops = dyn_cast<LoopsAttr>(attribute))
    if (!loops.getDims().empty() && loops.getDims().back() >= dims)
      return op->emitError() << "its loops refer to dim " << loops.getDims().back()
                             << "; it must be less than the number of dims, " << dims;
  if (auto slices = dyn_cast<SlicesAttr>(attribute))
    if (static_cast<int64_t>(slices.getBytes().size()) != buffers)
      return op->emitError() << "its slices have " << slices.getBytes().size() << " entries for "
                             << buffers << " buffers";
  if (auto bound = dyn_cast<BuffersAttr>(attribute))
    for (TexelViewAttr view : bound.getTexelViews())
      if (view.getBuffer() >= buffers)
        return op->emitError() << "it reads buffer " << view.getBuffer()
                               << " as texels; the index must be less than the number of buffers, "
                               << buffers;
  return success();
}

/// Checks a signature against the types of the function's arguments (tensors, then dims) and of its
/// results.
LogicalResult verifySignature(func::FuncOp function, SignatureAttr signature) {
  int64_t tensors = 0, dynamic = 0, dims = 0;
  for (Type type : function.getArgumentTypes()) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      ++tensors;
      dynamic += tensor.getNumDynamicDims();
    } else {
      ++dims;
    }
  }
  const auto operandDims = signature.getOperandDims(), resultDims = signature.getResultDims();
  if (static_cast<int64_t>(operandDims.size()) != dynamic)
    return function.emitError() << "operand_dims of its signature has " << operandDims.size()
                                << " entries for " << dynamic << " dynamic dimensions";
  int64_t dynamicOfResult = 0;
  for (Type type : function.getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      dynamicOfResult += tensor.getNumDynamicDims();
  if (static_cast<int64_t>(resultDims.size()) != dynamicOfResult)
    return function.emitError() << "result_dims of its signature has " << resultDims.size()
                                << " entries for " << dynamicOfResult << " dynamic dimensions";
  for (int64_t dim : llvm::concat<const int64_t>(operandDims, resultDims))
    if (dim < 0 || dim >= dims)
      return function.emitError() << "its signature refers to dim " << dim
                                  << "; it must be less than the number of dims, " << dims;
  if (const size_t layouts = signature.getLayouts().size();
      layouts != 0 && static_cast<int64_t>(layouts) != tensors + 1)
    return function.emitError() << "its signature has " << layouts << " layouts for " << tensors
                                << " operands and a result";
  return success();
}

} // namespace

LogicalResult GantryDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  using Function = FunctionOpInterface;
  using SpirvModule = spirv::ModuleOp;
  static const auto kRules = std::to_array({
      rule<RequirementsAttr, func::FuncOp>(),
      rule<StripsAttr, func::FuncOp>(),
      rule<OrderAttr, func::FuncOp>(),
      rule<BudgetAttr, func::FuncOp>(),
      rule<FailureAttr, func::FuncOp>(),
      rule<KernelAttr, ModuleOp>(),
      rule<SignatureAttr, func::FuncOp>(),
      rule<TileAttr, Function, SpirvModule>(),
      rule<LaunchAttr, Function, SpirvModule>(),
      rule<LoopsAttr, Function, SpirvModule>(),
      rule<SlicesAttr, Function, SpirvModule>(),
      rule<PredictionAttr, Function, SpirvModule>(),
      rule<RemarksAttr, Function, SpirvModule>(),
      rule<BuffersAttr, SpirvModule>(),
      builtinRule<TensorAttrHelper, StringAttr>(),
      builtinRule<WhyAttrHelper, StringAttr>(),
      builtinRule<StoredAttrHelper, UnitAttr>(),
      builtinRule<RoundsAttrHelper, UnitAttr, arith::TruncFOp>(),
      builtinRule<RoundedAttrHelper, UnitAttr, arith::TruncFOp>(),
      builtinRule<ExactAttrHelper, UnitAttr>(),
  });
  const auto *found = llvm::find_if(
      kRules, [&](const auto &known) { return known.first == attribute.getName().getValue(); });
  if (found == kRules.end())
    return op->emitError() << "attribute " << attribute.getName()
                           << " is not declared by the Gantry dialect (GantryDialect.td)";
  if (failed(found->second(op, attribute)))
    return failure();
  if (auto signature = dyn_cast<SignatureAttr>(attribute.getValue()))
    return verifySignature(cast<func::FuncOp>(op), signature);
  return verifyIndices(op, attribute.getValue());
}

/// Checks that the state's order has as many dimensions as the argument, and that the result that
/// the state refers to exists, and has the argument's element type and a compatible shape.
static LogicalResult verifyState(Diagnose error, FunctionOpInterface function, unsigned argument,
                                 StateAttr state) {
  const auto tensor = dyn_cast<RankedTensorType>(function.getArgumentTypes()[argument]);
  if (const auto count = static_cast<int64_t>(state.getOrder().size());
      count != 0 && (!tensor || count != tensor.getRank()))
    return error() << " has an order of " << count << " dimensions, but the argument is "
                   << function.getArgumentTypes()[argument];
  const int64_t result = state.getResult();
  if (result == -1)
    return success();
  if (result < 0 || result >= static_cast<int64_t>(function.getNumResults()))
    return error() << " refers to result " << result
                   << "; it must be -1, or at least 0 and less than the number of results, "
                   << function.getNumResults();
  auto before = dyn_cast<ShapedType>(function.getArgumentTypes()[argument]);
  auto after = dyn_cast<ShapedType>(function.getResultTypes()[result]);
  if (!before || !after || before.getElementType() != after.getElementType() ||
      failed(verifyCompatibleShape(before, after)))
    return error() << " refers to result " << result
                   << ", which has another type than the argument";
  return success();
}

LogicalResult GantryDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                      NamedAttribute attribute) {
  auto error = [&] {
    return op->emitError() << "attribute " << attribute.getName() << " of argument " << argument;
  };
  if (attribute.getName() == BindingAttr::name)
    return isa<BindingAttr>(attribute.getValue()) ? success() : error() << " has the wrong type";
  if (auto state = dyn_cast<StateAttr>(attribute.getValue());
      state && attribute.getName() == StateAttr::name && isa<FunctionOpInterface>(op))
    return verifyState(error, cast<FunctionOpInterface>(op), argument, state);
  if (attribute.getName() != PortAttr::name)
    return error() << " is not declared by the Gantry dialect (GantryDialect.td), or has the wrong "
                      "type";
  auto port = dyn_cast<PortAttr>(attribute.getValue());
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!port || !function)
    return error() << " has the wrong type";
  auto tensor = dyn_cast<RankedTensorType>(function.getArgumentTypes()[argument]);
  if (tensor && !port.getDims().empty() &&
      static_cast<int64_t>(port.getDims().size()) != tensor.getRank())
    return error() << " has " << port.getDims().size() << " dims for a tensor of rank "
                   << tensor.getRank();
  return success();
}

LogicalResult GantryDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                         NamedAttribute attribute) {
  auto port = dyn_cast<PortAttr>(attribute.getValue());
  if (attribute.getName() == PortAttr::name && port && port.getDims().empty() && !port.getDonated())
    return success();
  return op->emitError() << "attribute " << attribute.getName() << " of result " << result
                         << " must be a port that has no dims and is not donated";
}

} // namespace gantry::codegen
