#include "codegen/import/onnx/context.h"

#include "codegen/dialect/rounding.h"
#include "codegen/import/onnx/evaluate.h"

#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>

namespace gantry::importer {

namespace {

// Up to here a constant is written into the IR; above, the IR refers to the model's own bytes.
constexpr uint64_t kInlineBytes = 256;
// Work (points of an iteration space) that is done while importing.
constexpr int64_t kFoldPoints = int64_t(1) << 24;

// MLIR's text knows resources by a bare identifier only.
std::string resourceKey(llvm::StringRef name) {
  std::string key = name.empty() || !llvm::isAlpha(name[0]) ? "constant_" : "";
  for (char c : name)
    key += llvm::isAlnum(c) || c == '.' ? c : '_';
  return key;
}

// Sizes are 64-bit numbers; a model may hold them in 32 bits.
void checkFits(DType type, Dim dim) {
  if (auto value = staticDim(dim); value && type == DType::I32 && int32_t(*value) != *value)
    failBadInput("shape arithmetic overflows: " + llvm::Twine(*value) + " does not fit 32 bits");
}

int64_t constantLoopCount(const GenericSpec &spec) {
  // Each loop is as long as some tensor says; the product over plain dims of all maps, capped.
  llvm::SmallVector<int64_t> ranges(spec.reduction.size(), 1);
  auto visit = [&](mlir::AffineMap map, llvm::ArrayRef<Dim> dims) {
    for (auto [expr, dim] : llvm::zip(map.getResults(), dims))
      if (auto loop = mlir::dyn_cast<mlir::AffineDimExpr>(expr))
        ranges[loop.getPosition()] = *staticDim(dim);
  };
  for (const Operand &operand : spec.inputs)
    visit(operand.map, operand.tensor.dims);
  visit(spec.resultMap, spec.resultDims);
  int64_t count = 1;
  for (int64_t range : ranges)
    if (__builtin_mul_overflow(count, range, &count))
      return INT64_MAX;
  return count;
}

} // namespace

ImportContext::ImportContext(mlir::MLIRContext *context, mlir::Block *entry, bool foldEverything)
    : context_(context), entry_(entry), builder_(context), loc_(mlir::UnknownLoc::get(context)),
      foldEverything_(foldEverything) {
  builder_.setInsertionPointToEnd(entry);
}

// ---- values by name
// ------------------------------------------------------------------------------

const Tensor *ImportContext::lookup(llvm::StringRef name) const {
  auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

Tensor ImportContext::input(const Node &node, size_t index) const {
  llvm::StringRef name = node.inputName(index);
  if (name.empty())
    failBadInput("input " + llvm::Twine(index) + " is missing");
  const Tensor *tensor = lookup(name);
  if (!tensor)
    failBadInput("the input \"" + name + "\" is produced by no earlier node");
  return *tensor;
}

std::optional<Tensor> ImportContext::optionalInput(const Node &node, size_t index) const {
  if (!node.hasInput(index))
    return std::nullopt;
  return input(node, index);
}

Constant ImportContext::constantInput(const Node &node, size_t index, llvm::StringRef what) const {
  Tensor tensor = input(node, index);
  if (!tensor.constant)
    failUnsupported(what + " (input \"" + node.inputName(index) +
                    "\") is computed while the model runs; only constants are supported here");
  requireExact(tensor);
  return tensor.constant;
}

llvm::SmallVector<int64_t> ImportContext::intsInput(const Node &node, size_t index,
                                                    llvm::StringRef what) const {
  Constant constant = constantInput(node, index, what);
  if (constant->dims.size() > 1 || constant->elementCount() > 4096)
    failBadInput(what + " must be a list of integers");
  llvm::SmallVector<int64_t> result;
  for (int64_t i = 0; i < constant->elementCount(); ++i)
    result.push_back(constant->intAt(i));
  return result;
}

llvm::SmallVector<Dim> ImportContext::dimsInput(const Node &node, size_t index,
                                                llvm::StringRef what) const {
  Tensor tensor = input(node, index);
  requireExact(tensor);
  if (!tensor.content)
    failUnsupported(what + " (input \"" + node.inputName(index) +
                    "\") depends on the values of tensors, not only on their shapes");
  if (tensor.rank() > 1)
    failBadInput(what + " must be a list of integers, not a tensor of rank " +
                 llvm::Twine(tensor.rank()));
  return *tensor.content;
}

void ImportContext::requireExact(const Tensor &tensor) const {
  if (!tensor.constant || !tensor.constant->inexact)
    return;
  const Inexact &inexact = *tensor.constant->inexact;
  failBadInput(inexact.message + " (node \"" + inexact.node + "\")");
}

void ImportContext::define(llvm::StringRef name, Tensor tensor) {
  if (name.empty())
    return;
  values_[name] = std::move(tensor);
}

void ImportContext::setOutput(const Node &node, size_t index, Tensor tensor) {
  if (!node.hasOutput(index))
    return;
  llvm::StringRef name = node.outputName(index);
  if (tensor.value && tensor.value.getDefiningOp()) {
    mlir::Operation *op = tensor.value.getDefiningOp();
    if (!op->hasAttr("gantry.tensor"))
      op->setAttr("gantry.tensor", builder_.getStringAttr(name));
  }
  define(name, std::move(tensor));
}

// ---- tensors
// -------------------------------------------------------------------------------------

Tensor ImportContext::fromConstant(const Constant &constant) const {
  Tensor tensor;
  tensor.type = constant->type;
  tensor.dims = constantDims(context_, constant->dims);
  tensor.constant = constant;
  if (constant->elementCount() <= 64 && !constant->window && !constant->inexact) {
    llvm::SmallVector<Dim> content;
    for (int64_t i = 0; i < constant->elementCount(); ++i) {
      double value = constant->floatAt(i);
      if (isFloat(constant->type) && !(value == std::floor(value) && std::fabs(value) < 1e15))
        return tensor;
      content.push_back(number(constant->intAt(i)));
    }
    tensor.content = std::move(content);
  }
  return tensor;
}

Tensor ImportContext::fromContent(DType type, llvm::ArrayRef<Dim> content, bool scalar) const {
  if (scalar)
    return fromContent(type, content, llvm::ArrayRef<int64_t>());
  const int64_t count = content.size();
  return fromContent(type, content, llvm::ArrayRef<int64_t>(count));
}

Tensor ImportContext::fromContent(DType type, llvm::ArrayRef<Dim> content,
                                  llvm::ArrayRef<int64_t> dims) const {
  for (Dim dim : content)
    checkFits(type, dim);
  if (allStatic(content)) {
    llvm::SmallVector<int64_t> values = staticDims(content, "a shape");
    return fromConstant(makeInts(type, dims, values));
  }
  Tensor tensor;
  tensor.type = type;
  tensor.dims = constantDims(context_, dims);
  tensor.content = llvm::SmallVector<Dim>(content.begin(), content.end());
  return tensor;
}

Tensor ImportContext::scalar(DType type, double value) const {
  Number n;
  if (isFloat(type))
    n.f = value;
  else
    n.i = static_cast<int64_t>(value);
  return fromConstant(makeSplat(type, {}, n));
}

Tensor ImportContext::window(llvm::ArrayRef<int64_t> dims, DType type) const {
  Number zero;
  zero.i = 0;
  auto tensor = std::make_shared<HostTensor>(*makeSplat(type, dims, zero));
  tensor->window = true;
  return fromConstant(std::move(tensor));
}

mlir::RankedTensorType ImportContext::tensorType(DType type, llvm::ArrayRef<Dim> dims) const {
  llvm::SmallVector<int64_t> shape, known;
  if (dims.size() > 8)
    failUnsupported("a tensor of rank " + llvm::Twine(dims.size()) + "; at most 8 is supported");
  for (Dim dim : dims) {
    auto value = staticDim(dim);
    shape.push_back(value.value_or(mlir::ShapedType::kDynamic));
    known.push_back(value.value_or(1));
  }
  if (checkedCount(known) > (int64_t(1) << 60) / int64_t(dtypeSize(type)))
    failBadInput("shape arithmetic overflows: a tensor of shape " + describeDims(dims));
  return mlir::RankedTensorType::get(shape, mlirType(context_, type));
}

Tensor ImportContext::result(DType type, llvm::ArrayRef<Dim> dims, mlir::Value value) const {
  Tensor tensor;
  tensor.type = type;
  tensor.dims.assign(dims.begin(), dims.end());
  tensor.value = value;
  return tensor;
}

mlir::OpFoldResult ImportContext::foldedDim(Dim dim) {
  if (auto value = staticDim(dim))
    return builder_.getIndexAttr(*value);
  return dimValue(dim);
}

mlir::Value ImportContext::emptyTensor(DType type, llvm::ArrayRef<Dim> dims) {
  mlir::RankedTensorType tensor = tensorType(type, dims);
  llvm::SmallVector<mlir::Value> dynamic;
  for (Dim dim : dims)
    if (!staticDim(dim))
      dynamic.push_back(dimValue(dim));
  return builder_.create<mlir::tensor::EmptyOp>(loc_, tensor, dynamic);
}

mlir::Value ImportContext::constantValue(const Constant &constant) {
  auto known = constants_.find(constant.get());
  if (known != constants_.end())
    return known->second.second;
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (lastHeader_)
    builder_.setInsertionPointAfter(lastHeader_);
  else
    builder_.setInsertionPointToStart(entry_);
  mlir::Type element = mlirType(context_, constant->type);
  auto type = mlir::RankedTensorType::get(constant->dims, element);
  const uint64_t elementSize = dtypeSize(constant->type);
  mlir::ElementsAttr attribute;
  auto raw = llvm::ArrayRef<char>(reinterpret_cast<const char *>(constant->bytes.data()),
                                  constant->bytes.size());
  if (constant->splat || constant->bytes.size() <= kInlineBytes || constant->type == DType::Bool) {
    int64_t count = constant->splat ? 1 : constant->elementCount();
    if (constant->type == DType::Bool) {
      llvm::SmallVector<bool> values;
      for (int64_t i = 0; i < count; ++i)
        values.push_back(constant->at(i).i != 0);
      attribute = mlir::DenseElementsAttr::get(type, values);
    } else {
      // MLIR reads elements in place: give it aligned bytes.
      std::vector<uint64_t> aligned((raw.size() + 7) / 8);
      std::copy(raw.begin(), raw.end(), reinterpret_cast<char *>(aligned.data()));
      attribute = mlir::DenseElementsAttr::getFromRawBuffer(
          type, {reinterpret_cast<const char *>(aligned.data()), raw.size()});
    }
  } else {
    mlir::AsmResourceBlob blob;
    if (reinterpret_cast<uintptr_t>(raw.data()) % elementSize == 0)
      blob = mlir::AsmResourceBlob(
          raw, elementSize,
          [keep = constant->owner](void *, size_t, size_t) mutable { keep.reset(); },
          /*dataIsMutable=*/false);
    else
      blob = mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(raw, elementSize);
    auto shaped = mlir::cast<mlir::ShapedType>(mlir::Type(type));
    attribute =
        mlir::DenseResourceElementsAttr::get(shaped, resourceKey(constant->name), std::move(blob));
  }
  mlir::Location loc = loc_;
  if (!constant->name.empty())
    loc = mlir::NameLoc::get(builder_.getStringAttr(constant->name));
  auto op = builder_.create<mlir::arith::ConstantOp>(loc, mlir::cast<mlir::TypedAttr>(attribute));
  if (!constant->name.empty())
    op->setAttr("gantry.tensor", builder_.getStringAttr(constant->name));
  lastHeader_ = op;
  constants_[constant.get()] = {constant, op};
  return op;
}

mlir::Value ImportContext::valueOf(const Tensor &tensor) {
  if (tensor.value)
    return tensor.value;
  if (tensor.constant && tensor.constant->window)
    return emptyTensor(tensor.type, tensor.dims);
  if (tensor.constant)
    return constantValue(tensor.constant);
  // Shape contents that the model also computes with: one element after the other.
  llvm::SmallVector<Dim> content = *tensor.content;
  GenericSpec spec;
  spec.usesDims = true;
  spec.resultType = tensor.type;
  spec.resultDims = tensor.dims;
  spec.reduction.assign(tensor.rank(), false);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar>, Scalar) {
    Scalar value = b.cast(b.dimension(content[0]), tensor.type);
    llvm::SmallVector<int64_t> strides = rowMajorStrides(staticDims(tensor.dims, "a shape"));
    Scalar position = b.constantInt(DType::Index, 0);
    for (int64_t k = 0; k < tensor.rank(); ++k)
      position = b.add(position, b.mul(b.loopIndex(k), b.constantInt(DType::Index, strides[k])));
    for (size_t i = 1; i < content.size(); ++i) {
      Scalar here = b.compare(Compare::Equal, position, b.constantInt(DType::Index, i));
      value = b.select(here, b.cast(b.dimension(content[i]), tensor.type), value);
    }
    return value;
  };
  return generic(spec).value;
}

// ---- generic
// -------------------------------------------------------------------------------------

bool ImportContext::mayFold(const GenericSpec &spec) const {
  bool splats = true;
  for (const Operand &operand : spec.inputs) {
    if (!operand.tensor.constant)
      return false;
    splats &= operand.tensor.constant->splat;
  }
  for (const Tensor &tensor : spec.captured)
    if (!tensor.constant)
      return false;
  if (spec.usesDims || !allStatic(spec.resultDims))
    return false;
  if (foldEverything_)
    return true;
  if (spec.keepsConstants)
    return false;
  // A reduction of splats, or a body that asks for its position, would materialise: both are
  // bounded.
  bool parallel = llvm::none_of(spec.reduction, [](bool r) { return r; });
  if (splats && parallel && spec.captured.empty() && !spec.inputs.empty())
    return true;
  if (spec.inputs.empty() && spec.captured.empty())
    return constantLoopCount(spec) <= 4096;
  return constantLoopCount(spec) <= kFoldPoints;
}

Tensor ImportContext::generic(const GenericSpec &given) {
  GenericSpec spec = given;
  if (!spec.resultMap)
    spec.resultMap = mlir::AffineMap::getMultiDimIdentityMap(spec.reduction.size(), context_);
  tensorType(spec.resultType, spec.resultDims); // checks the size
  if (spec.init && isHalf(spec.resultType)) {   // sums in f32, rounds once
    const DType type = spec.resultType;
    spec.resultType = DType::F32;
    return cast(generic(spec), type);
  }
  if (mayFold(spec))
    return fold(spec);
  return emit(
      spec, [&](const Tensor &tensor) { return valueOf(tensor); }, false);
}

Tensor ImportContext::fold(const GenericSpec &spec) {
  // Built in a block of its own over placeholders, evaluated, and thrown away.
  mlir::Block scratch;
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToEnd(&scratch);
  llvm::DenseMap<mlir::Value, Constant> known;
  Tensor placeholder = emit(
      spec,
      [&](const Tensor &tensor) -> mlir::Value {
        mlir::Value value = builder_.create<mlir::tensor::EmptyOp>(
            loc_, tensorType(tensor.type, tensor.dims), mlir::ValueRange());
        known[value] = tensor.constant;
        return value;
      },
      true);
  auto op = placeholder.value.getDefiningOp<mlir::linalg::GenericOp>();
  Number init;
  init.i = 0;
  Constant folded;
  try {
    folded = evaluateGeneric(
        op, spec.resultType, [&](mlir::Value v) { return known.lookup(v); },
        spec.init.value_or(init));
  } catch (...) {
    while (!scratch.empty())
      scratch.back().erase();
    throw;
  }
  while (!scratch.empty())
    scratch.back().erase();
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(loc_);
      name && folded->inexact && folded->inexact->node.empty()) {
    auto named = std::make_shared<HostTensor>(*folded);
    named->inexact =
        std::make_shared<Inexact>(Inexact{folded->inexact->message, name.getName().str()});
    folded = std::move(named);
  }
  return fromConstant(folded);
}

Tensor ImportContext::emit(const GenericSpec &spec,
                           llvm::function_ref<mlir::Value(const Tensor &)> valueFor, bool folding) {
  // A known scalar is a constant of the body, not an operand (folding evaluates operands).
  const bool inlines = !folding && llvm::none_of(spec.reduction, [](bool r) { return r; });
  auto isInlined = [&](const Tensor &tensor) {
    return inlines && tensor.constant && !tensor.constant->window &&
           (tensor.constant->splat || tensor.constant->elementCount() == 1);
  };
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
  for (const Operand &operand : spec.inputs) {
    if (isInlined(operand.tensor))
      continue;
    inputs.push_back(valueFor(operand.tensor));
    maps.push_back(operand.map);
  }
  maps.push_back(spec.resultMap);
  llvm::SmallVector<std::pair<mlir::Value, DType>> captured;
  for (const Tensor &tensor : spec.captured)
    captured.push_back({valueFor(tensor), tensor.type});
  mlir::Value init = emptyTensor(spec.resultType, spec.resultDims);
  if (spec.init && !folding) {
    mlir::Type element = mlirType(context_, spec.resultType);
    mlir::TypedAttr attribute =
        isFloat(spec.resultType)
            ? mlir::TypedAttr(builder_.getFloatAttr(element, spec.init->f))
            : mlir::TypedAttr(builder_.getIntegerAttr(
                  element, llvm::APInt(64, spec.init->i).trunc(element.getIntOrFloatBitWidth())));
    mlir::Value scalar = builder_.create<mlir::arith::ConstantOp>(loc_, attribute);
    init = builder_.create<mlir::linalg::FillOp>(loc_, scalar, init).getResult(0);
  }
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  for (bool reduction : spec.reduction)
    iterators.push_back(reduction ? mlir::utils::IteratorType::reduction
                                  : mlir::utils::IteratorType::parallel);
  auto op = builder_.create<mlir::linalg::GenericOp>(loc_, mlir::TypeRange{init.getType()}, inputs,
                                                     mlir::ValueRange{init}, maps, iterators);
  mlir::Block *body = new mlir::Block;
  op.getRegion().push_back(body);
  mlir::OpBuilder inner = mlir::OpBuilder::atBlockEnd(body);
  BodyBuilder bodyBuilder(
      inner, loc_, captured, [&](Dim dim) { return dimValue(dim); }, folding);
  llvm::SmallVector<Scalar> elements;
  for (const Operand &operand : spec.inputs) {
    const Tensor &tensor = operand.tensor;
    if (isInlined(tensor)) {
      Number number = tensor.constant->at(0);
      elements.push_back(isFloat(tensor.type) ? bodyBuilder.constant(tensor.type, number.f)
                                              : bodyBuilder.constantInt(tensor.type, number.i));
      continue;
    }
    elements.push_back({body->addArgument(mlirType(context_, tensor.type), loc_), tensor.type});
  }
  Scalar accumulator = {body->addArgument(mlirType(context_, spec.resultType), loc_),
                        spec.resultType};
  // 16-bit floats are computed with as f32; what is only moved stays as it is.
  for (Scalar &element : elements)
    element = bodyBuilder.widen(element);
  Scalar yielded = spec.body(bodyBuilder, elements, accumulator);
  auto extended = yielded.value.getDefiningOp<mlir::arith::ExtFOp>();
  if (extended && extended.getIn().getType() == mlirType(context_, spec.resultType))
    yielded = {extended.getIn(), spec.resultType};
  if (isHalf(spec.resultType))
    yielded = bodyBuilder.cast(yielded, spec.resultType);
  inner.create<mlir::linalg::YieldOp>(loc_, yielded.value);
  for (auto widened : llvm::make_early_inc_range(body->getOps<mlir::arith::ExtFOp>()))
    if (widened->use_empty())
      widened->erase();
  return result(spec.resultType, spec.resultDims, op.getResult(0));
}

// ---- elementwise and reductions
// ------------------------------------------------------------------

Dims ImportContext::broadcastDims(llvm::ArrayRef<Tensor> operands) {
  size_t rank = 0;
  for (const Tensor &tensor : operands)
    rank = std::max(rank, tensor.dims.size());
  Dims dims(rank, number(1));
  for (const Tensor &tensor : operands)
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      Dim &known = dims[rank - tensor.dims.size() + i];
      Dim dim = tensor.dims[i];
      if (isStaticOne(dim) || dim == known)
        continue;
      if (!isStaticOne(known) && staticDim(known) && staticDim(dim))
        failBadInput("the shapes " + describeDims(operands[0].dims) + " and " +
                     describeDims(tensor.dims) + " do not broadcast");
      known = isStaticOne(known) ? dim : requireEqual(known, dim);
    }
  return dims;
}

Tensor ImportContext::elementwise(llvm::ArrayRef<Tensor> operands, DType resultType,
                                  ElementBody body) {
  GenericSpec spec;
  spec.resultType = resultType;
  spec.resultDims = broadcastDims(operands);
  const unsigned rank = spec.resultDims.size();
  spec.reduction.assign(rank, false);
  for (const Tensor &tensor : operands) {
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      size_t at = rank - tensor.dims.size() + i;
      bool broadcast = isStaticOne(tensor.dims[i]) && !isStaticOne(spec.resultDims[at]);
      exprs.push_back(broadcast ? number(0) : loop(at));
    }
    spec.inputs.push_back({tensor, map(rank, exprs)});
  }
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar) { return body(b, x); };
  return generic(spec);
}

Tensor ImportContext::reduce(const Tensor &in, llvm::ArrayRef<int64_t> axes, bool keepDims,
                             DType resultType, Number init,
                             llvm::function_ref<Scalar(BodyBuilder &, Scalar, Scalar)> body) {
  GenericSpec spec;
  const unsigned rank = in.rank();
  spec.reduction.assign(rank, false);
  for (int64_t axis : axes)
    spec.reduction[axis] = true;
  llvm::SmallVector<mlir::AffineExpr> exprs;
  for (unsigned i = 0; i < rank; ++i) {
    if (spec.reduction[i] && !keepDims)
      continue;
    exprs.push_back(spec.reduction[i] ? number(0) : loop(i));
    spec.resultDims.push_back(spec.reduction[i] ? number(1) : in.dims[i]);
  }
  spec.resultType = resultType;
  spec.resultMap = map(rank, exprs);
  spec.init = init;
  spec.inputs.push_back({in, mlir::AffineMap::getMultiDimIdentityMap(rank, context_)});
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar acc) {
    return body(b, x[0], acc);
  };
  return generic(spec);
}

Tensor ImportContext::cast(const Tensor &in, DType to) { return convert(in, to, false); }

Tensor ImportContext::castByModel(const Tensor &in, DType to) { return convert(in, to, true); }

Tensor ImportContext::convert(const Tensor &in, DType to, bool rounds) {
  if (in.type == to)
    return in;
  // A narrow type would wrap or round a dimension, so the result is data and no longer a shape.
  const bool isNarrow = dtypeSize(to) < 4; // bool, 8-bit and 16-bit types
  if (in.content && !in.constant && !isNarrow) {
    for (Dim dim : *in.content)
      checkFits(to, dim);
    Tensor out = in;
    out.type = to;
    out.value = nullptr;
    return out;
  }
  return elementwise({in}, to, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
    const Scalar result = b.castSaturating(x[0], to);
    if (auto truncation = result.value.getDefiningOp<mlir::arith::TruncFOp>(); truncation && rounds)
      truncation->setAttr(codegen::kRounds, builder_.getUnitAttr());
    return result;
  });
}

int64_t normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    failBadInput("the axis " + llvm::Twine(axis) + " is outside of a tensor of rank " +
                 llvm::Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank) {
  llvm::SmallVector<int64_t> result;
  for (int64_t axis : axes)
    result.push_back(normalizeAxis(axis, rank));
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    failBadInput("an axis is given twice");
  return result;
}

} // namespace gantry::importer
