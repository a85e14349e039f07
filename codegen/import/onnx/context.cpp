// Implements ImportContext: the values by their names, and the builders for elementwise operations
// and reductions.
#include "codegen/import/onnx/context.h"

#include "codegen/dialect/rounding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

namespace gantry::importer {

namespace {

// Throws ImportError (bad input) if the model computes a size in i32 and the size does not fit.
void checkFits(DType type, Dim dim) {
  if (auto value = staticDim(dim); value && type == DType::kI32 && int32_t(*value) != *value)
    failBadInput("shape arithmetic overflows: " + llvm::Twine(*value) + " does not fit 32 bits");
}

} // namespace

ImportContext::ImportContext(mlir::MLIRContext *context, mlir::Block *entry, bool foldEverything,
                             bool savesMemory)
    : context_(context), builder_(context), loc_(mlir::UnknownLoc::get(context)),
      foldEverything_(foldEverything), savesMemory_(savesMemory), header_(*entry) {
  builder_.setInsertionPointToEnd(entry);
}

// ---- values by their ONNX names ----------------------------------------------------------------

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
    if (!codegen::tensorName(op))
      codegen::setTensorName(op, name);
  }
  define(name, std::move(tensor));
}

// ---- tensors -----------------------------------------------------------------------------------

Tensor ImportContext::fromConstant(const Constant &constant) const {
  Tensor tensor;
  tensor.type = constant->type;
  tensor.dims = constantDims(context_, constant->dims);
  tensor.constant = constant;
  if (constant->elementCount() <= kMaxContentElements && !constant->window && !constant->inexact) {
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
  return fromConstant(makeSplat(type, {}, numberOf(type, value)));
}

Tensor ImportContext::window(llvm::ArrayRef<int64_t> dims, DType type) const {
  auto tensor = std::make_shared<HostTensor>(*makeSplat(type, dims, Number{.i = 0}));
  tensor->window = true;
  return fromConstant(std::move(tensor));
}

Tensor ImportContext::fromValue(DType type, llvm::ArrayRef<Dim> dims, mlir::Value value) const {
  Tensor tensor;
  tensor.type = type;
  tensor.dims.assign(dims.begin(), dims.end());
  tensor.value = value;
  return tensor;
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

mlir::Value ImportContext::scalarValue(DType type, Number value) {
  mlir::Type element = mlirType(context_, type);
  mlir::TypedAttr attribute =
      isFloat(type)
          ? mlir::TypedAttr(builder_.getFloatAttr(element, value.f))
          : mlir::TypedAttr(builder_.getIntegerAttr(
                element, llvm::APInt(64, value.i).trunc(element.getIntOrFloatBitWidth())));
  return builder_.create<mlir::arith::ConstantOp>(loc_, attribute);
}

mlir::Value ImportContext::valueOf(const Tensor &tensor) {
  if (tensor.value)
    return tensor.value;
  if (tensor.constant && tensor.constant->window)
    return emptyTensor(tensor.type, tensor.dims);
  if (tensor.constant)
    return header_.constantValue(tensor.constant, loc_);
  return contentValue(tensor).value;
}

// Builds the SSA value of a tensor that is known only as expressions (Tensor::content). The body of
// the generic selects one element by its position.
Tensor ImportContext::contentValue(const Tensor &tensor) {
  llvm::SmallVector<Dim> content = *tensor.content;
  GenericSpec spec;
  spec.usesDims = true;
  spec.resultType = tensor.type;
  spec.resultDims = tensor.dims;
  spec.reduction.assign(tensor.rank(), false);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar>, Scalar) {
    Scalar value = b.cast(b.dimension(content[0]), tensor.type);
    llvm::SmallVector<int64_t> strides = rowMajorStrides(staticDims(tensor.dims, "a shape"));
    Scalar position = b.constantInt(DType::kIndex, 0);
    for (int64_t k = 0; k < tensor.rank(); ++k)
      position = b.add(position, b.mul(b.loopIndex(k), b.constantInt(DType::kIndex, strides[k])));
    for (size_t i = 1; i < content.size(); ++i) {
      Scalar here = b.compare(Compare::kEqual, position, b.constantInt(DType::kIndex, i));
      value = b.select(here, b.cast(b.dimension(content[i]), tensor.type), value);
    }
    return value;
  };
  return generic(spec);
}

// ---- elementwise operations and reductions ------------------------------------------------------

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
      known = isStaticOne(known) ? dim : constraints_.requireEqual(known, dim);
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

Tensor ImportContext::convert(const Tensor &in, DType to, bool keepsRounding) {
  if (in.type == to)
    return in;
  // A type below 32 bits could wrap or round a dimension, so the result is treated as data and not
  // as a shape.
  const bool isNarrow = dtypeSize(to) < 4;
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
    if (auto truncation = result.value.getDefiningOp<mlir::arith::TruncFOp>();
        truncation && keepsRounding)
      codegen::keepRounding(truncation);
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
