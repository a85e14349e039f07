// gantry-opt: runs passes on MLIR text, for the tests of passes and for compiler developers.
//   gantry-opt model.mlir --pass-pipeline='builtin.module(func.func(form-dispatches))'
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<gantry::codegen::GantryDialect, mlir::affine::AffineDialect,
                  mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::spirv::SPIRVDialect, mlir::tensor::TensorDialect,
                  mlir::vector::VectorDialect>();
  gantry::codegen::registerGantryPasses();
  mlir::registerCSEPass();
  mlir::registerCanonicalizerPass();
  mlir::registerLoopInvariantCodeMotionPass();
  mlir::spirv::registerSPIRVUpdateVCEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Gantry's passes\n", registry));
}
