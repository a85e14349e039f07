// Which element types the inputs of each ONNX operator may have.
//
// The table declares for every operator of the registry the types that its importer handles. They
// are those of ONNX's specification, and others where the result has one obvious meaning (Add of
// i8 before opset 14, Sum of integers). Nodes are checked before their importer runs, so that an
// importer builds arithmetic for these types only.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

namespace gantry::importer {

class ImportContext;
class Node;

/// A set of DType: bit n is the type with the number n.
using TypeSet = uint16_t;

struct OperandTypes {
  /// One set per input; the last one holds for all further inputs. kSameAsFirst in a set: the input
  /// must also have the type of input 0.
  llvm::SmallVector<TypeSet> inputs;
  /// Types of input 0 that ONNX allows, but that are not supported yet.
  TypeSet later = 0;
};

inline constexpr TypeSet kSameAsFirst = 1 << 15;

/// Null for an operator that the table does not have.
const OperandTypes *operandTypesOf(llvm::StringRef op);

/// Fails where an input of the node has a type that its operator does not take: with bad input, or
/// as unsupported where ONNX allows the type. Absent inputs are left to the importer.
void checkOperandTypes(const ImportContext &import, const Node &node);

} // namespace gantry::importer
