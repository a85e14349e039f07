// Imports Shape and Size. Their results are expressions over the dynamic dimensions.
#include "codegen/import/onnx/context.h"
#include "codegen/import/onnx/registry.h"

namespace gantry::importer {

namespace {

void importShape(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  const int64_t rank = x.rank();
  auto clamp = [&](int64_t value) {
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const int64_t start = clamp(node.intAttribute("start", 0));
  const int64_t end = clamp(node.intAttribute("end", rank));
  llvm::ArrayRef<Dim> dims = x.dims;
  dims = start < end ? dims.slice(start, end - start) : llvm::ArrayRef<Dim>();
  import.setOutput(node, 0, import.fromContent(DType::kI64, dims, false));
}

void importSize(ImportContext &import, const Node &node) {
  Tensor x = import.input(node, 0);
  Dim size = productOf(import.mlirContext(), x.dims);
  import.setOutput(node, 0, import.fromContent(DType::kI64, {size}, true));
}

} // namespace

void addShapeOperators(OperatorTable &table) {
  table["Shape"] = importShape;
  table["Size"] = importSize;
}

} // namespace gantry::importer
