// Rules that no integer type can obey send an op to float, too; the rules stand in Inputs/engine.toml.
// RUN: qopt %s -p 'isolate-unsupported{target=%S/Inputs/engine.toml},legalize-params{target=%S/Inputs/engine.toml},verify-params' --split-input-file | %filecheck

!a = !quant.uniform<i8:f32, 0.5>
!w = !quant.uniform<i8:f32:0, {0.25, 0.5}>
!acc = !quant.uniform<i32:f32, 0.01>

// CHECK-LABEL: func.func @accumulators_of_several_scales
// CHECK:         "qnn.fully_connected"({{.*}}) {{.*}} -> tensor<2x2xf32>
// CHECK:         "qnn.quantize"({{.*}}) {qnn.inserted = "unsupported"} : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i32:f32, 1.000000e-02
func.func @accumulators_of_several_scales(%x: tensor<2x8x!a>, %w: tensor<2x8x!w>) -> tensor<2x2x!acc> {
  %r = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8x!a>, tensor<2x8x!w>) -> tensor<2x2x!acc>
  return %r : tensor<2x2x!acc>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i8:f32, 0.25>
!w = !quant.uniform<i8:f32, 0.5>
!bias = !quant.uniform<i32:f32, 0.25>

// The input cannot change, since a bias that is computed could not follow.
// CHECK-LABEL: func.func @computed_bias
// CHECK:         "qnn.fully_connected"({{.*}}) {{.*}} -> tensor<2x2xf32>
func.func @computed_bias(%x: tensor<2x8x!a>, %w: tensor<2x8x!w>, %bias: tensor<2x!bias>) -> tensor<2x2x!b> {
  %r = "qnn.fully_connected"(%x, %w, %bias) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x8x!a>, tensor<2x8x!w>, tensor<2x!bias>) -> tensor<2x2x!b>
  return %r : tensor<2x2x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i8:f32, 0.25>
!w = !quant.uniform<i8:f32, 0.5>
!bias = !quant.uniform<i32:f32, 0.25>

// A constant one can.
// CHECK-LABEL: func.func @keep_constant_bias
// CHECK:         "qnn.fully_connected"
// CHECK-NOT:     qnn.quantize
// CHECK:         return
func.func @keep_constant_bias(%x: tensor<2x8x!a>, %w: tensor<2x8x!w>) -> tensor<2x2x!b> {
  %bias = "qnn.constant"() {value = dense<[3, 4]> : tensor<2xi32>} : () -> tensor<2x!bias>
  %r = "qnn.fully_connected"(%x, %w, %bias) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x8x!a>, tensor<2x8x!w>, tensor<2x!bias>) -> tensor<2x2x!b>
  return %r : tensor<2x2x!b>
}
