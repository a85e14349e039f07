// The C++ classes of Gantry, an MLIR dialect: its operations, and the attributes that one pass of
// the compiler sets and a later pass reads.
//
// TableGen generates the classes from GantryOps.td, GantryAttributes.td and GantryDialect.td, which
// also document every operation and attribute. This header adds accessors of discardable
// attributes, so that no pass needs to spell the name of an attribute:
//
//   if (auto tile = attributeOf<TileAttr>(function)) …       // gantry.tile, or null
//   GantryDialect::TensorAttrHelper(context).getAttr(op);    // gantry.tensor, a builtin StringAttr
//
// Thread safety: attributes are immutable and may be used by several threads. An operation may be
// used by one thread at a time.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "codegen/dialect/GantryEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/dialect/GantryAttributes.h.inc"

#include "codegen/dialect/GantryDialect.h.inc"

#define GET_OP_CLASSES
#include "codegen/dialect/GantryOps.h.inc"

namespace gantry::codegen {

/// The largest value of `skipped`, a parameter of BindingAttr: the number of elements at the start
/// of a buffer that a kernel's view of the buffer as vectors of four leaves out.
inline constexpr int64_t kMaxSkippedElements = 3;

/// Returns the operation's attribute of type Attr, or null if it has none. Attr is an attribute
/// type of this dialect. Operations have such an attribute under the name "gantry." followed by the
/// type's mnemonic (Attr::name): a TileAttr, whose mnemonic is `tile`, is named `gantry.tile`.
template <typename Attr> Attr attributeOf(mlir::Operation *op) {
  return op->getAttrOfType<Attr>(Attr::name);
}

/// Sets the operation's attribute of type Attr, and replaces an existing one.
template <typename Attr> void setAttribute(mlir::Operation *op, Attr attribute) {
  op->setAttr(Attr::name, attribute);
}

/// Returns the attribute of type Attr that an argument of the function has, or null if it has none.
/// resultAttribute() does the same for a result of the function.
template <typename Attr>
Attr argumentAttribute(mlir::FunctionOpInterface function, unsigned argument) {
  return function.getArgAttrOfType<Attr>(argument, Attr::name);
}
template <typename Attr> Attr resultAttribute(mlir::FunctionOpInterface function, unsigned result) {
  return function.getResultAttrOfType<Attr>(result, Attr::name);
}

/// Returns the name that the model gives to the operation's result, or null if it has none.
inline mlir::StringAttr tensorName(mlir::Operation *op) {
  return op->getAttrOfType<mlir::StringAttr>(GantryDialect::TensorAttrHelper::getNameStr());
}

/// Sets the name that the model gives to the operation's result.
inline void setTensorName(mlir::Operation *op, llvm::StringRef name) {
  op->setAttr(GantryDialect::TensorAttrHelper::getNameStr(),
              mlir::StringAttr::get(op->getContext(), name));
}

/// Returns which dimension of the program's input is dimension `dim` of the argument. It is another
/// one if the order of a state's dimensions was changed (gantry.state).
unsigned portDim(mlir::FunctionOpInterface function, unsigned argument, unsigned dim);

/// Copies the tensor name of `from`, if it has one, to `to`.
inline void copyTensorName(mlir::Operation *from, mlir::Operation *to) {
  if (mlir::StringAttr name = tensorName(from))
    to->setAttr(GantryDialect::TensorAttrHelper::getNameStr(), name);
}

/// Returns whether a kernel computes several reductions over each row of its result, as softmax
/// computes the maximum and the sum of a row. `kernel` is the function that describes the kernel's
/// computation on tensors. Its SignatureAttr repeats attributes of the gantry.dispatch that
/// launches the kernel, among them the flag `rows`.
inline bool isOverRows(mlir::Operation *kernel) {
  auto signature = attributeOf<SignatureAttr>(kernel);
  return signature && signature.getRows();
}

/// Returns whether the module is one that outline-kernels made for a kernel's functions
/// (gantry.kernel is set).
inline bool isKernelModule(mlir::Operation *module) {
  return attributeOf<KernelAttr>(module) != nullptr;
}

} // namespace gantry::codegen
