// RUN: gantry-import --locations --elide %S/../../data/models/depthwise_se/model.onnx | FileCheck %s
// RUN: gantry-import --keep-all-outputs --elide %S/../../data/models/depthwise_se/model.onnx | FileCheck %s --check-prefix=KEEP
// Depthwise convolutions have no loop over input channels. The location of every operation names its node.

// CHECK-DAG: affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2{{.*}} + d4, d3{{.*}} + d5)>
// CHECK: func.func @main
// CHECK: tensor.pad
// CHECK: linalg.generic
// CHECK: loc("{{.*}}Conv{{.*}}"(
// KEEP: func.func @main
// KEEP-SAME: gantry.port = #gantry.port<name = "{{.*}}">}, tensor<
