// RUN: gantry-import %S/../../data/models/dynamic_mlp/model.onnx | FileCheck %s
// The size of a dynamic dimension is read from the argument, and the sizes of the other tensors are
// expressions of this size.

// CHECK-LABEL: func.func @main(%arg0: tensor<?x
// CHECK-SAME: dims = [<"
// CHECK: tensor.dim %arg0
// CHECK-NOT: tensor.dim %{{[0-9]}}
// CHECK: linalg.generic
// CHECK: return
