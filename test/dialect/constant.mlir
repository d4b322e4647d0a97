// RUN: qopt %s | qopt | %filecheck

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!u = !quant.uniform<u8:f32, 5.000000e-01:128>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!s = !quant.uniform<i4:f32:{0:1, 1:2}, {{5.000000e-01, 2.500000e-01:1}, {1.000000e+00, 2.000000e+00}}>
!bc = !quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>

// CHECK-LABEL: func.func @constant_int8(
// CHECK:         "qnn.constant"() {value = dense<[1, -2]> : tensor<2xi8>}
// CHECK-SAME:      : () -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @constant_int8() -> tensor<2x!q> {
  %result = "qnn.constant"() {value = dense<[1, -2]> : tensor<2xi8>} : () -> tensor<2x!q>
  return %result : tensor<2x!q>
}

// Unsigned storage: the attribute holds the same bits.
// CHECK-LABEL: func.func @constant_uint8(
// CHECK:         "qnn.constant"() {value = dense<[0, -1]> : tensor<2xi8>}
// CHECK-SAME:      : () -> tensor<2x!quant.uniform<u8:f32, 5.000000e-01:128>>
func.func @constant_uint8() -> tensor<2x!u> {
  %result = "qnn.constant"() {value = dense<[0, -1]> : tensor<2xi8>} : () -> tensor<2x!u>
  return %result : tensor<2x!u>
}

// CHECK-LABEL: func.func @constant_per_axis(
// CHECK:         "qnn.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>}
// CHECK-SAME:      : () -> tensor<2x2x!quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>>
func.func @constant_per_axis() -> tensor<2x2x!c> {
  %result = "qnn.constant"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>} : () -> tensor<2x2x!c>
  return %result : tensor<2x2x!c>
}

// 4-bit storage is held one value per byte.
// CHECK-LABEL: func.func @constant_sub_channel(
// CHECK:         "qnn.constant"() {value = dense<[[-8, 7, 0, 1], [1, 2, 3, 4]]> : tensor<2x4xi8>}
// CHECK-SAME:      : () -> tensor<2x4x!quant.uniform<i4:f32:{0:1, 1:2}, {{[{][{]}}5.000000e-01, 2.500000e-01:1}, {1.000000e+00, 2.000000e+00}}>>
func.func @constant_sub_channel() -> tensor<2x4x!s> {
  %result = "qnn.constant"() {value = dense<[[-8, 7, 0, 1], [1, 2, 3, 4]]> : tensor<2x4xi8>} : () -> tensor<2x4x!s>
  return %result : tensor<2x4x!s>
}

// CHECK-LABEL: func.func @constant_bias(
// CHECK:         "qnn.constant"() {value = dense<100000> : tensor<2xi32>}
// CHECK-SAME:      : () -> tensor<2x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>>
func.func @constant_bias() -> tensor<2x!bc> {
  %result = "qnn.constant"() {value = dense<100000> : tensor<2xi32>} : () -> tensor<2x!bc>
  return %result : tensor<2x!bc>
}

// CHECK-LABEL: func.func @constant_float(
// CHECK:         "qnn.constant"() {value = dense<1.500000e+00> : tensor<f32>}
// CHECK-SAME:      : () -> tensor<f32>
func.func @constant_float() -> tensor<f32> {
  %result = "qnn.constant"() {value = dense<1.500000e+00> : tensor<f32>} : () -> tensor<f32>
  return %result : tensor<f32>
}

// CHECK-LABEL: func.func @constant_integers(
// CHECK:         "qnn.constant"() {value = dense<[1, 2]> : tensor<2xi64>}
// CHECK-SAME:      : () -> tensor<2xi64>
func.func @constant_integers() -> tensor<2xi64> {
  %result = "qnn.constant"() {value = dense<[1, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  return %result : tensor<2xi64>
}
