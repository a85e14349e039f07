// Imports ScatterND, which replaces slices of a tensor, as gantry.scatter, an operation that
// replaces rows of a tensor (codegen/dialect/GantryOps.td).
//
// The leading dimensions of the data, which the indices address, are merged into one. The position
// of each update along the merged dimension is computed from its indices. A constant index out of
// range fails the import. An update whose index is computed at run time and out of range is not
// written.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

namespace gantry::importer {

namespace {

/// The operands of a ScatterND. The data has the shape [places, row...], where the addressed
/// dimensions are merged into `places` and row... are the dimensions that are not addressed. The
/// indices have the shape [outer..., depth], and the updates [outer..., row...]. There is at least
/// one outer dimension.
struct Scatter {
  Tensor data, updates, indices;
  Dims addressed; // The dimensions of the data that the indices address; their number is the depth.
};

/// Returns the operands. Throws ImportError (bad input) if their types or shapes do not fit.
Scatter operandsOf(ImportContext &import, const Node &node) {
  Tensor data = import.input(node, 0), indices = import.input(node, 1),
         updates = import.input(node, 2);
  if (indices.type != DType::kI64)
    failBadInput("the indices are " + dtypeName(indices.type) + "; they must be i64");
  if (data.type != updates.type)
    failBadInput("the data is " + dtypeName(data.type) + ", but the updates are " +
                 dtypeName(updates.type));
  const std::optional<int64_t> depth =
      indices.rank() == 0 ? std::nullopt : staticDim(indices.dims.back());
  if (!depth || *depth < 1 || *depth > data.rank())
    failBadInput("the last dimension of the indices " + describeDims(indices.dims) +
                 " must be static, at least 1, and at most the rank of the data " +
                 describeDims(data.dims));
  const llvm::ArrayRef<Dim> outer = llvm::ArrayRef(indices.dims).drop_back();
  const llvm::ArrayRef<Dim> inner = llvm::ArrayRef(data.dims).drop_front(*depth);
  Dims expected(outer);
  expected.append(inner.begin(), inner.end());
  if (expected.size() != updates.dims.size())
    failBadInput("the updates have the shape " + describeDims(updates.dims) +
                 "; the data and the indices require " + describeDims(expected));
  for (auto [own, wanted] : llvm::zip(updates.dims, expected))
    import.constraints().requireEqual(own, wanted);

  Scatter scatter;
  scatter.addressed.assign(data.dims.begin(), data.dims.begin() + *depth);
  Dims shape{productOf(import.mlirContext(), scatter.addressed)};
  shape.append(inner.begin(), inner.end());
  scatter.data = reshape(import, data, shape);
  scatter.updates = updates;
  scatter.indices = indices;
  if (outer.empty()) {
    expected.insert(expected.begin(), import.number(1));
    scatter.updates = reshape(import, updates, expected);
    scatter.indices = reshape(import, indices, Dims{import.number(1), import.number(*depth)});
  }
  return scatter;
}

/// Returns the positions of constant indices. Throws ImportError (bad input) if an index is out of
/// range.
llvm::SmallVector<int64_t> knownPositions(const Scatter &scatter) {
  const auto sizes = staticDims(scatter.addressed, "a scattered axis");
  const auto depth = static_cast<int64_t>(sizes.size());
  llvm::SmallVector<int64_t> positions;
  for (int64_t i = 0; i < scatter.indices.constant->elementCount(); ++i) {
    const int64_t index = scatter.indices.constant->intAt(i), size = sizes[i % depth];
    if (index < -size || index >= size)
      failBadInput("the index " + llvm::Twine(index) + " is outside of a dimension of size " +
                   llvm::Twine(size));
    if (i % depth == 0)
      positions.push_back(0);
    positions.back() = positions.back() * size + (index < 0 ? index + size : index);
  }
  return positions;
}

/// Builds the positions of indices that are computed at run time; -1 for an index out of range.
Tensor computedPositions(ImportContext &import, const Scatter &scatter) {
  GenericSpec spec;
  spec.resultType = DType::kI32;
  spec.resultDims.assign(scatter.indices.dims.begin(), scatter.indices.dims.end() - 1);
  const auto outer = static_cast<unsigned>(spec.resultDims.size());
  spec.reduction.assign(outer, false);
  llvm::SmallVector<mlir::AffineExpr> at;
  for (unsigned i = 0; i < outer; ++i)
    at.push_back(import.loop(i));
  at.emplace_back();
  for (size_t k = 0; k < scatter.addressed.size(); ++k) {
    at.back() = import.number(static_cast<int64_t>(k));
    spec.inputs.push_back({scatter.indices, import.map(outer, at)});
    spec.usesDims |= !staticDim(scatter.addressed[k]);
  }
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar) {
    const Scalar zero = b.constantInt(DType::kI64, 0);
    Scalar position = b.constantInt(DType::kIndex, 0), valid;
    for (auto [index, dim] : llvm::zip(x, scatter.addressed)) {
      // The range is checked before the conversion to MLIR's type index, because index has 32 bits
      // on some devices.
      const Scalar size = b.cast(b.dimension(dim), DType::kI64);
      const Scalar at = b.select(b.compare(Compare::kLess, index, zero), b.add(index, size), index);
      const Scalar inside = b.andBits(b.compare(Compare::kGreaterEqual, at, zero),
                                      b.compare(Compare::kLess, at, size));
      valid = valid.value ? b.andBits(valid, inside) : inside;
      position = b.add(b.mul(position, b.dimension(dim)), b.cast(at, DType::kIndex));
    }
    return b.select(valid, b.cast(position, DType::kI32), b.constantInt(DType::kI32, -1));
  };
  return import.generic(spec);
}

/// Returns constant data in which the rows at `positions` are replaced by the constant updates.
Tensor folded(ImportContext &import, const Scatter &scatter, llvm::ArrayRef<int64_t> positions) {
  uint8_t *bytes = nullptr;
  auto result = makeDense(scatter.data.type, scatter.data.constant->dims, bytes);
  for (const Tensor *from : {&scatter.data, &scatter.updates, &scatter.indices})
    if (!result->inexact)
      result->inexact = from->constant->inexact;
  const auto copyRow = [&](const HostTensor &from, int64_t row, int64_t to, int64_t elements) {
    for (int64_t e = 0; e < elements; ++e)
      storeElement(from.type, bytes + (to * elements + e) * dtypeSize(from.type),
                   from.at(row * elements + e));
  };
  const int64_t places = result->dims.front();
  const int64_t elements = places == 0 ? 0 : result->elementCount() / places;
  for (int64_t place = 0; place < places; ++place)
    copyRow(*scatter.data.constant, place, place, elements);
  for (auto [row, place] : llvm::enumerate(positions))
    copyRow(*scatter.updates.constant, static_cast<int64_t>(row), place, elements);
  return import.fromConstant(result);
}

void importScatterNd(ImportContext &import, const Node &node) {
  if (const std::string reduction = node.stringAttribute("reduction", "none"); reduction != "none")
    failUnsupported("the reduction \"" + reduction + "\" is not supported");
  const Dims dims = import.input(node, 0).dims;
  Scatter scatter = operandsOf(import, node);
  if (llvm::any_of(scatter.indices.dims, [](Dim dim) { return staticDim(dim) == 0; }))
    return import.setOutput(node, 0, import.input(node, 0));
  Tensor positions;
  if (scatter.indices.constant && allStatic(scatter.addressed)) {
    const llvm::SmallVector<int64_t> known = knownPositions(scatter);
    if (scatter.data.constant && scatter.updates.constant)
      return import.setOutput(node, 0, reshape(import, folded(import, scatter, known), dims));
    positions = import.fromConstant(
        makeInts(DType::kI32, llvm::ArrayRef(scatter.indices.constant->dims).drop_back(), known));
  } else {
    positions = computedPositions(import, scatter);
  }
  mlir::Value data = import.valueOf(scatter.data);
  mlir::Value result = import.builder().create<codegen::ScatterOp>(
      import.location(), data.getType(), import.valueOf(scatter.updates), data,
      import.valueOf(positions), /*rows=*/mlir::Value());
  import.setOutput(
      node, 0,
      reshape(import, import.fromValue(scatter.data.type, scatter.data.dims, result), dims));
}

} // namespace

void addScatterOperators(OperatorTable &table) { table["ScatterND"] = importScatterNd; }

} // namespace gantry::importer
