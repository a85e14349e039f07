// The table of the element types that the inputs of each ONNX operator may have.
//
// The table has a row for every operator that can be imported, except If (the table of importers is
// in registry.h). It allows the types of ONNX's specification, and other types for which the
// operator's meaning is obvious (Add of i8 before opset 14, Sum of integers). Nodes are checked
// before their importers run, so an importer needs to handle only these types. Thread safety: the
// table is constant.
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
  /// Types of input 0 that ONNX allows but the importer does not support yet.
  TypeSet later = 0;
};

inline constexpr TypeSet kSameAsFirst = 1 << 15;

/// Returns the row of an operator, or null for If and for an operator that cannot be imported.
const OperandTypes *operandTypesOf(llvm::StringRef op);

/// Throws ImportError (import_error.h) if an input of the node has a type that is not in the
/// operator's row: unsupported if the type is in `later`, otherwise bad input. An absent input is
/// not checked.
void checkOperandTypes(const ImportContext &import, const Node &node);

} // namespace gantry::importer
