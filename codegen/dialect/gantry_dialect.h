// The Gantry dialect's C++ classes. GantryOps.td is its manual.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "codegen/dialect/GantryDialect.h.inc"

#define GET_OP_CLASSES
#include "codegen/dialect/GantryOps.h.inc"
