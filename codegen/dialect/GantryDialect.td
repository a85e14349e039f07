// The Gantry dialect and the names of its discardable attributes.
#ifndef GANTRY_DIALECT
#define GANTRY_DIALECT

include "mlir/IR/DialectBase.td"

def Gantry_Dialect : Dialect {
  let name = "gantry";
  let cppNamespace = "::gantry::codegen";
  let summary = "The steps between linalg on tensors and the commands of an artifact";
  let description = [{
    The compiler imports a model as linalg operations on tensors and writes an artifact, a file with
    kernels and the commands that run them. The program is the model as one function. Passes turn
    its operations into `gantry.dispatch` operations, each of which is one kernel launch, and move
    the computation of each kernel to a module of its own.

    The dialect also declares every attribute that one pass sets and a later pass reads.
    codegen/passes/Passes.td describes the passes, and GantryAttributes.td the types of these
    attributes; the list below says which operations may have them. The verifier rejects any other
    attribute whose name begins with `gantry.`, an attribute of the wrong type, and an attribute on
    an operation that may not have it.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;

  // If an attribute's type belongs to this dialect, its name is "gantry." and the mnemonic of its
  // type. Therefore attributeOf<TileAttr>(op) (gantry_dialect.h) finds `gantry.tile`.
  let discardableAttrs = (ins
    // On arguments and results of the program's function; set by the importer.
    "::gantry::codegen::PortAttr":$port,
    // On arguments of the program's function; set by the importer, and by pipeline.cpp from the
    // caller's options.
    "::gantry::codegen::StateAttr":$state,
    // On the program's function.
    "::gantry::codegen::RequirementsAttr":$requirements, // set by the importer
    "::gantry::codegen::StripsAttr":$strips,             // set by the pass `strips`
    "::gantry::codegen::OrderAttr":$order,               // set by order-dispatches
    "::gantry::codegen::BudgetAttr":$budget,             // set by fit-budget
    "::gantry::codegen::FailureAttr":$failure,           // set by a pass that refuses the model
    // On operations of the program.
    "::mlir::StringAttr":$tensor, // the name that the model gives to the operation's result
    "::mlir::StringAttr":$why,    // on an operation: why it is not fused, or why it copies
    "::mlir::UnitAttr":$stored,   // on an operation: its result is stored, so readers load it
    "::mlir::UnitAttr":$rounds,   // on arith.truncf: the model contains this rounding (rounding.h)
    "::mlir::UnitAttr":$rounded,  // on arith.truncf: the operand is a value that f16 can hold
    "::mlir::UnitAttr":$exact,    // on integer arithmetic: constant folding reports an overflow
                                  // (codegen/import/onnx/evaluate.h)
    // On the module of one kernel; set by outline-kernels and completed by apply-tuning.
    "::gantry::codegen::KernelAttr":$kernel,
    // On a kernel's function on tensors (its computation as linalg); set by outline-kernels.
    "::gantry::codegen::SignatureAttr":$signature,
    // On a kernel's function on buffers (its loads, arithmetic and stores); set by emit-kernels.
    // The attributes move with the function to the SPIR-V dialect, and bind-buffers moves them to
    // the spirv.module.
    "::gantry::codegen::TileAttr":$tile,
    "::gantry::codegen::LaunchAttr":$launch,
    "::gantry::codegen::LoopsAttr":$loops,
    "::gantry::codegen::SlicesAttr":$slices,
    "::gantry::codegen::PredictionAttr":$prediction,
    "::gantry::codegen::RemarksAttr":$remarks,
    // On arguments of a kernel's function on buffers; set by emit-kernels.
    "::gantry::codegen::BindingAttr":$binding,
    // On a spirv.module; set by bind-buffers.
    "::gantry::codegen::BuffersAttr":$buffers
  );
}

#endif
