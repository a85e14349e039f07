// Implements vector_views.h.
#include "codegen/tiling/emitter/memory/vector_views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Packs four bytes, or bools as bytes, into a word. The first byte is the lowest.
Value packBytes(OpBuilder &builder, Location loc, llvm::ArrayRef<Value> bytes, Type type) {
  Value word;
  for (auto [lane, value] : llvm::enumerate(bytes)) {
    Value byte;
    auto narrowed = value.getDefiningOp<arith::TruncIOp>();
    if (value.getType().isInteger(1) || !narrowed || narrowed.getIn().getType() != type)
      byte = builder.create<arith::ExtUIOp>(loc, type, value);
    else if (lane + 1 == bytes.size()) // The shift drops the bits above the byte.
      byte = narrowed.getIn();
    else
      byte = builder.create<arith::AndIOp>(loc, narrowed.getIn(),
                                           builder.create<arith::ConstantIntOp>(loc, 0xff, 32));
    if (lane > 0)
      byte = builder.create<arith::ShLIOp>(loc, byte,
                                           builder.create<arith::ConstantIntOp>(loc, 8 * lane, 32));
    word = word ? builder.create<arith::OrIOp>(loc, word, byte).getResult() : byte;
  }
  return word;
}

/// Returns whether the product of extents with these divisors is certain to be a multiple of four.
bool isWholeVectors(llvm::ArrayRef<int64_t> divisors) {
  int64_t product = 1; // Modulo four.
  for (int64_t divisor : divisors)
    product = product * (divisor % kVectorWidth) % kVectorWidth;
  return product == 0;
}

} // namespace

Value elementOf(OpBuilder &builder, Location loc, Value part, int64_t lane, Type element) {
  if (element.isInteger(8)) { // The first byte is the lowest.
    if (lane > 0)
      part = builder.create<arith::ShRUIOp>(
          loc, part, builder.create<arith::ConstantIntOp>(loc, 8 * lane, 32));
    return builder.create<arith::TruncIOp>(loc, element, part);
  }
  if (element.isInteger(1)) { // In memory a bool is a byte: 0, or not 0.
    Value byte = builder.create<arith::AndIOp>(
        loc, part, builder.create<arith::ConstantIntOp>(loc, int64_t{0xff} << 8 * lane, 32));
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, byte,
                                         builder.create<arith::ConstantIntOp>(loc, 0, 32));
  }
  return part.getType() == element ? part : builder.create<arith::TruncFOp>(loc, element, part);
}

Type vectorTypeOf(Type element, bool asTexels) {
  if (element.isF32() || element.isInteger(32))
    return VectorType::get({kVectorWidth}, element);
  if (element.isF16())
    return VectorType::get({kVectorWidth},
                           asTexels ? Float32Type::get(element.getContext()) : element);
  if (element.isInteger(8) || element.isInteger(1)) {
    const Type word = IntegerType::get(element.getContext(), 32);
    return asTexels ? Type(VectorType::get({kVectorWidth}, word)) : word;
  }
  return {};
}

bool mayBeVectors(RankedTensorType type, LayoutAttr layout) {
  return vectorTypeOf(type.getElementType(), false) && layout.getStart() % kVectorWidth == 0;
}

bool hasVectorView(RankedTensorType type, LayoutAttr layout, llvm::ArrayRef<int64_t> divisors) {
  if (!mayBeVectors(type, layout))
    return false;
  if (!layout.getParts().empty())
    return true; // Blocks have a multiple of four elements, without gaps, and divide the extents.
  llvm::SmallVector<int64_t> known(type.getShape()); // The divisors of the extents.
  for (auto [d, extent] : llvm::enumerate(known))
    if (ShapedType::isDynamic(extent))
      extent = divisors.empty() ? 1 : divisors[d];
  if (layout.getWithin().empty())
    return isWholeVectors(known);
  // The tensor is a part of a larger one. Its rows (the longest ranges without a gap) and the gaps
  // between them must consist of whole groups.
  llvm::SmallVector<int64_t> row, storageRow;
  for (size_t d = type.getRank(); d-- > 0;) {
    const int64_t own = type.getDimSize(d), extent = layout.getWithin()[d];
    if (!layout.getSteps().empty() && layout.getSteps()[d] != 1)
      return false; // There are gaps in a row.
    row.push_back(known[d]);
    storageRow.push_back(extent == -1 ? known[d] : extent);
    if (extent != -1 && extent != own)
      break;
  }
  return isWholeVectors(row) && isWholeVectors(storageRow);
}

bool isPaddedView(RankedTensorType type, LayoutAttr layout) {
  return vectorTypeOf(type.getElementType(), true) && layout.getStart() % kVectorWidth == 0 &&
         layout.getParts().empty() && layout.getWithin().empty();
}

Value packVector(OpBuilder &builder, Location loc, llvm::ArrayRef<Value> elements, Type type) {
  if (type.isInteger(32))
    return packBytes(builder, loc, elements, type);
  auto vectorType = cast<VectorType>(type);
  Value vector =
      builder.create<arith::ConstantOp>(loc, vectorType, builder.getZeroAttr(vectorType));
  for (auto [lane, value] : llvm::enumerate(elements))
    vector = builder.create<vector::InsertOp>(loc, value, vector, static_cast<int64_t>(lane));
  return vector;
}

} // namespace gantry::codegen
