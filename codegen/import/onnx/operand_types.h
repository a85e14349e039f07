// The table of the element types that the inputs of each ONNX operator may have.
//
// The table has a row for every operator of the registry. It allows the types of ONNX's
// specification, and others where the result has one obvious meaning (Add of i8 before opset 14,
// Sum of integers). Nodes are checked before their importer runs, so an importer builds arithmetic
// for these types only. Thread safety: the table is constant.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

namespace gantry::importer {

class ImportContext;
class Node;

/// A set of element types: bit n is the DType with the value n.
using TypeSet = uint16_t;

struct OperandTypes {
  /// One set per input; the last one applies to all further inputs. A set that contains
  /// kSameAsFirst also requires the type of input 0.
  llvm::SmallVector<TypeSet> inputs;
  /// Types of input 0 that ONNX allows, but that are not supported yet.
  TypeSet later = 0;
};

inline constexpr TypeSet kSameAsFirst = 1 << 15;

/// Returns null for an operator without a row.
const OperandTypes *operandTypesOf(llvm::StringRef op);

/// Fails where an input of the node has a type that its operator does not take: as unsupported
/// where ONNX allows the type, otherwise as bad input. Absent inputs are left to the importer.
void checkOperandTypes(const ImportContext &import, const Node &node);

} // namespace gantry::importer
