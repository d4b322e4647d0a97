// Without merging every op is an island, rounded to 8 bits at its end as in the quantized network.
// RUN: qopt %s -p 'isolate-unsupported{target=float-islands-demo merge=false}' --split-input-file | %filecheck

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @isolate_each(
// CHECK:         %[[X:[0-9]+]] = "qnn.dequantize"
// CHECK:         %[[T:[0-9]+]] = "qnn.tanh"(%[[X]])
// CHECK:         %[[Q:[0-9]+]] = "qnn.quantize"(%[[T]])
// CHECK:         %[[S:[0-9]+]] = "qnn.reshape"(%[[Q]]) : (tensor<4x!quant
// CHECK:         %[[F:[0-9]+]] = "qnn.dequantize"(%[[S]])
// CHECK:         %[[Y:[0-9]+]] = "qnn.logistic"(%[[F]])
// CHECK:         %[[RESULT:[0-9]+]] = "qnn.quantize"(%[[Y]])
// CHECK:         return %[[RESULT]]
func.func @isolate_each(%x: tensor<4x!q>) -> tensor<2x2x!q> {
  %t = "qnn.tanh"(%x) : (tensor<4x!q>) -> tensor<4x!q>
  %s = "qnn.reshape"(%t) : (tensor<4x!q>) -> tensor<2x2x!q>
  %y = "qnn.logistic"(%s) : (tensor<2x2x!q>) -> tensor<2x2x!q>
  return %y : tensor<2x2x!q>
}

// -----
// Two ops in a row: the value between them is rounded.

!q = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @keep_rounding(
// CHECK:         %[[D:[0-9]+]] = "qnn.sub"({{.*}}) {clamp = array<f32>}
// CHECK:         %[[Q:[0-9]+]] = "qnn.quantize"(%[[D]])
// CHECK:         %[[F:[0-9]+]] = "qnn.dequantize"(%[[Q]])
// CHECK:         "qnn.tanh"(%[[F]])
func.func @keep_rounding(%x: tensor<4x!q>, %y: tensor<4x!q>) -> tensor<4x!q> {
  %d = "qnn.sub"(%x, %y) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  %t = "qnn.tanh"(%d) : (tensor<4x!q>) -> tensor<4x!q>
  return %t : tensor<4x!q>
}
