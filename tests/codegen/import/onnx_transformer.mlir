// RUN: gantry-import %S/../../data/models/dynamic_mlp/model.onnx | FileCheck %s
// The size of a dynamic dimension is read from the argument, and every size is an expression of it.

// CHECK-LABEL: func.func @main(%arg0: tensor<?x
// CHECK-SAME: dims = [<"
// CHECK: tensor.dim %arg0
// CHECK-NOT: tensor.dim %{{[0-9]}}
// CHECK: linalg.generic
// CHECK: return
