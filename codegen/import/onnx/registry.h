// Which ONNX operators can be imported, and by which function.
//
// Each operator family is one file that adds its operators by one function below. To add an
// operator: write void importX(ImportContext &, const Node &) in its family's file and add a line
// to the family's list. An importer handles every opset version of its operator, by node.opset().
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
void addPoolOperators(OperatorTable &table);
void addMatMulOperators(OperatorTable &table);
void addQuantizeOperators(OperatorTable &table);
void addReduceOperators(OperatorTable &table);
void addNormOperators(OperatorTable &table);
void addShapeOperators(OperatorTable &table);
void addLayoutOperators(OperatorTable &table);
void addGatherOperators(OperatorTable &table);
void addResizeOperators(OperatorTable &table);
void addCreationOperators(OperatorTable &table);

/// All of them (built once, then constant).
const OperatorTable &operatorTable();

} // namespace gantry::importer
