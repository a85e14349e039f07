// Implements the table: collects the operators of all families.
#include "codegen/import/onnx/registry.h"

#include "codegen/import/import.h"

#include <algorithm>

namespace gantry::importer {

const OperatorTable &operatorTable() {
  static const OperatorTable kTable = [] {
    OperatorTable t;
    addElementwiseOperators(t);
    addActivationOperators(t);
    addConvOperators(t);
    addConvTransposeOperators(t);
    addPoolOperators(t);
    addMatMulOperators(t);
    addEinsumOperators(t);
    addQuantizeOperators(t);
    addReduceOperators(t);
    addNormOperators(t);
    addShapeOperators(t);
    addLayoutOperators(t);
    addGatherOperators(t);
    addScatterOperators(t);
    addResizeOperators(t);
    addCreationOperators(t);
    return t;
  }();
  return kTable;
}

std::vector<std::string> supportedOnnxOperators() {
  std::vector<std::string> names;
  for (const auto &entry : operatorTable())
    names.push_back(entry.getKey().str());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace gantry::importer
