// Declares the compiler's own MLIR passes. Passes.td describes them, and codegen/pipeline.cpp has
// the order in which they run. TableGen generates the declarations and the registration from
// Passes.td.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
}
namespace LLVM {
class LLVMDialect;
}
namespace NVVM {
class NVVMDialect;
}
namespace ROCDL {
class ROCDLDialect;
}
namespace affine {
class AffineDialect;
}
namespace arith {
class ArithDialect;
}
namespace cf {
class ControlFlowDialect;
}
namespace linalg {
class LinalgDialect;
}
namespace math {
class MathDialect;
}
namespace memref {
class MemRefDialect;
}
namespace scf {
class SCFDialect;
}
namespace spirv {
class SPIRVDialect;
}
namespace tensor {
class TensorDialect;
}
namespace vector {
class VectorDialect;
}
} // namespace mlir

namespace gantry::codegen {

class GantryDialect;

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/passes/Passes.h.inc"

} // namespace gantry::codegen
