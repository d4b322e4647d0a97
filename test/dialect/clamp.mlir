// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!p = !quant.uniform<u8:f32, 3.906250e-03>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>

// relu6, to parameters of its own
// CHECK-LABEL: func.func @clamp_relu6(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK:         "qnn.clamp"(%[[X]]) {clamp = array<f32: 0.000000e+00, 6.000000e+00>}
// CHECK-SAME:      : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4x!quant.uniform<u8:f32, 3.906250e-03>>
func.func @clamp_relu6(%x: tensor<4x!q>) -> tensor<4x!p> {
  %result = "qnn.clamp"(%x) {clamp = array<f32: 0.000000e+00, 6.000000e+00>} : (tensor<4x!q>) -> tensor<4x!p>
  return %result : tensor<4x!p>
}

// CHECK-LABEL: func.func @clamp_relu(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x!quant.uniform<u8:f32, 5.000000e-01:128>>
// CHECK:         "qnn.clamp"(%[[X]]) {clamp = array<f32: 0.000000e+00, 0x7F800000>}
// CHECK-SAME:      : (tensor<4x!quant.uniform<u8:f32, 5.000000e-01:128>>) -> tensor<4x!quant.uniform<u8:f32, 5.000000e-01:128>>
func.func @clamp_relu(%x: tensor<4x!u>) -> tensor<4x!u> {
  %result = "qnn.clamp"(%x) {clamp = array<f32: 0.000000e+00, 0x7F800000>} : (tensor<4x!u>) -> tensor<4x!u>
  return %result : tensor<4x!u>
}

// CHECK-LABEL: func.func @clamp_float(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?xf32>
// CHECK:         "qnn.clamp"(%[[X]]) {clamp = array<f32: -1.000000e+00, 1.000000e+00>}
// CHECK-SAME:      : (tensor<?xf32>) -> tensor<?xf32>
func.func @clamp_float(%x: tensor<?xf32>) -> tensor<?xf32> {
  %result = "qnn.clamp"(%x) {clamp = array<f32: -1.000000e+00, 1.000000e+00>} : (tensor<?xf32>) -> tensor<?xf32>
  return %result : tensor<?xf32>
}
