// Implements FunctionHeader: builds the constants and dimensions at the start of the imported
// function.
#include "codegen/import/onnx/function_header.h"

#include "codegen/dialect/gantry_dialect.h"

#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace gantry::importer {

namespace {

// Max size of constants that are copied into the IR, in bytes.
constexpr uint64_t kMaxInlineBytes = 256;

// A resource's key must be a bare identifier, because MLIR's text form has no quoted keys.
std::string resourceKey(llvm::StringRef name) {
  std::string key = name.empty() || !llvm::isAlpha(name[0]) ? "constant_" : "";
  for (char c : name)
    key += llvm::isAlnum(c) || c == '.' ? c : '_';
  return key;
}

mlir::ElementsAttr inlineElements(const HostTensor &constant, mlir::RankedTensorType type) {
  const int64_t count = constant.splat ? 1 : constant.elementCount();
  if (constant.type == DType::kBool) {
    llvm::SmallVector<bool> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(constant.at(i).i != 0);
    return mlir::DenseElementsAttr::get(type, values);
  }
  // MLIR reads elements in place, so the bytes must be aligned.
  std::vector<uint64_t> aligned((constant.bytes.size() + 7) / 8);
  std::copy(constant.bytes.begin(), constant.bytes.end(),
            reinterpret_cast<uint8_t *>(aligned.data()));
  return mlir::DenseElementsAttr::getFromRawBuffer(
      type, {reinterpret_cast<const char *>(aligned.data()), constant.bytes.size()});
}

// Returns the elements as a resource that refers to the constant's own bytes, or to a copy if the
// bytes are not aligned to the element size.
mlir::ElementsAttr referredElements(const HostTensor &constant, mlir::RankedTensorType type) {
  auto raw = llvm::ArrayRef<char>(reinterpret_cast<const char *>(constant.bytes.data()),
                                  constant.bytes.size());
  const uint64_t elementSize = dtypeSize(constant.type);
  mlir::AsmResourceBlob blob;
  if (reinterpret_cast<uintptr_t>(raw.data()) % elementSize == 0)
    blob = mlir::AsmResourceBlob(
        raw, elementSize, [keep = constant.owner](void *, size_t, size_t) mutable { keep.reset(); },
        /*dataIsMutable=*/false);
  else
    blob = mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(raw, elementSize);
  return mlir::DenseResourceElementsAttr::get(mlir::cast<mlir::ShapedType>(mlir::Type(type)),
                                              resourceKey(constant.name), std::move(blob));
}

} // namespace

mlir::ElementsAttr elementsOf(const HostTensor &constant, mlir::MLIRContext *context) {
  auto type = mlir::RankedTensorType::get(constant.dims, mlirType(context, constant.type));
  const bool isInline =
      constant.splat || constant.bytes.size() <= kMaxInlineBytes || constant.type == DType::kBool;
  return isInline ? inlineElements(constant, type) : referredElements(constant, type);
}

mlir::OpBuilder FunctionHeader::builderAtEnd() {
  mlir::OpBuilder builder(entry_.getParentOp()->getContext());
  if (last_)
    builder.setInsertionPointAfter(last_);
  else
    builder.setInsertionPointToStart(&entry_);
  return builder;
}

Dim FunctionHeader::addSymbol(mlir::Value argument, int64_t dim) {
  mlir::OpBuilder builder = builderAtEnd();
  auto op = builder.create<mlir::tensor::DimOp>(argument.getLoc(), argument, dim);
  last_ = op;
  Dim symbol = mlir::getAffineSymbolExpr(symbols_.size(), builder.getContext());
  symbols_.push_back(op);
  dimValues_[symbol] = op;
  return symbol;
}

mlir::Value FunctionHeader::dimValue(Dim dim, mlir::Location loc) {
  if (mlir::Value known = dimValues_.lookup(dim))
    return known;
  mlir::OpBuilder builder = builderAtEnd();
  mlir::MLIRContext *context = builder.getContext();
  if (auto value = staticDim(dim)) {
    last_ = builder.create<mlir::arith::ConstantIndexOp>(loc, *value);
  } else {
    // The map has only the symbols that the expression uses, numbered in the order of their use.
    llvm::SmallVector<mlir::AffineExpr> replacements(symbols_.size());
    llvm::SmallVector<mlir::Value> operands;
    dim.walk([&](mlir::AffineExpr inner) {
      auto symbol = mlir::dyn_cast<mlir::AffineSymbolExpr>(inner);
      if (!symbol || replacements[symbol.getPosition()])
        return;
      replacements[symbol.getPosition()] = mlir::getAffineSymbolExpr(operands.size(), context);
      operands.push_back(symbols_[symbol.getPosition()]);
    });
    for (auto &replacement : replacements)
      if (!replacement)
        replacement = mlir::getAffineConstantExpr(0, context);
    auto map = mlir::AffineMap::get(0, operands.size(), dim.replaceSymbols(replacements), context);
    last_ = builder.create<mlir::affine::AffineApplyOp>(loc, map, operands);
  }
  return dimValues_[dim] = last_->getResult(0);
}

mlir::Value FunctionHeader::constantValue(const Constant &constant, mlir::Location loc) {
  auto known = constants_.find(constant.get());
  if (known != constants_.end())
    return known->second.second;
  mlir::OpBuilder builder = builderAtEnd();
  const mlir::ElementsAttr elements = elementsOf(*constant, builder.getContext());
  if (!constant->name.empty())
    loc = mlir::NameLoc::get(builder.getStringAttr(constant->name));
  auto op = builder.create<mlir::arith::ConstantOp>(loc, mlir::cast<mlir::TypedAttr>(elements));
  if (!constant->name.empty())
    codegen::setTensorName(op, constant->name);
  last_ = op;
  constants_[constant.get()] = {constant, op};
  return op;
}

} // namespace gantry::importer
