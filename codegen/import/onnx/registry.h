// The table of ONNX operators and their importers. `If` is not in the table; graph.cpp imports it.
//
// Each operator family is one file in operators/, which adds its operators with one of the
// functions below. To add an operator, write void importX(ImportContext &, const Node &) in its
// family's file, add a line to the function at the end of that file, and add a row to the table in
// operand_types.cpp. An importer handles every version of its operator; node.opset() returns the
// version of the operator set that the model uses. Thread safety: the table is constant.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace gantry::importer {

class ImportContext;
class Node;

using OperatorImporter = void (*)(ImportContext &, const Node &);
using OperatorTable = llvm::StringMap<OperatorImporter>;

void addElementwiseOperators(OperatorTable &table);
void addActivationOperators(OperatorTable &table);
void addConvOperators(OperatorTable &table);
void addConvTransposeOperators(OperatorTable &table);
void addPoolOperators(OperatorTable &table);
void addMatMulOperators(OperatorTable &table);
void addEinsumOperators(OperatorTable &table);
void addQuantizeOperators(OperatorTable &table);
void addReduceOperators(OperatorTable &table);
void addNormOperators(OperatorTable &table);
void addShapeOperators(OperatorTable &table);
void addLayoutOperators(OperatorTable &table);
void addGatherOperators(OperatorTable &table);
void addScatterOperators(OperatorTable &table);
void addResizeOperators(OperatorTable &table);
void addCreationOperators(OperatorTable &table);

/// Returns the table of all operators.
const OperatorTable &operatorTable();

} // namespace gantry::importer
