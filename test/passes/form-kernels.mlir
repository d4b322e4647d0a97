// RUN: qopt %s -p 'form-kernels{isa=avx512vnni}' | %filecheck
// RUN: qopt %s -p form-kernels | %filecheck --check-prefix=NOTHING
// RUN: qopt %s -p 'form-kernels{isa=avx512vnni}' --explain 2>&1 | %filecheck --check-prefix=WHY
// RUN: not qopt %s -p 'form-kernels{isa=avx512vni}' 2>&1 | %filecheck --check-prefix=UNKNOWN
// RUN: qopt %s -p 'form-kernels{isa=avx512vnni}' | qopt | %filecheck

// Without an instruction set nothing changes.
// NOTHING: qnn.conv2d
// NOTHING-NOT: qnn.launches

// UNKNOWN: qopt: error: pass 'form-kernels': unknown instruction set 'avx512vni'; did you mean 'avx512vnni'?

// WHY: it is not along the last axis

!x = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8<-127:127>:f32, 2.500000e-02>
!b = !quant.uniform<i32:f32, 1.250000e-02>
!p = !quant.uniform<i8:f32, 3.906250e-03:-128>

// The input is copied into a border of zero points, as u8 (-125 as a signed byte is 131); the first convolution's
// result has the border that the second wants; one declaration per call.
// CHECK:      func.func private @copy_0(tensor<1x8x8x16xi8> {bufferization.access = "read"}) -> tensor<1x10x10x16xi8>
// CHECK-SAME:   qnn.launches = [{family = "border"
// CHECK-SAME:   {family = "table"
// CHECK:      func.func private @conv2d_0(tensor<1x10x10x16xi8>
// CHECK-SAME:   -> tensor<1x10x10x16xi8>
// CHECK-SAME:   qnn.launches = [{family = "border"
// CHECK-SAME:   {family = "conv2d"
// CHECK:      func.func private @conv2d_1(tensor<1x10x10x16xi8>
// CHECK-SAME:   -> tensor<1x8x8x16xi8>
// CHECK:      func.func private @softmax_0
// CHECK:      func.func @main
// CHECK:        %[[IN:.*]] = quant.scast %arg0
// CHECK:        %[[COPY:.*]] = call @copy_0(%[[IN]])
// CHECK:        %[[A:.*]] = call @conv2d_0(%[[COPY]]
// CHECK:        %[[B:.*]] = call @conv2d_1(%[[A]]
// A reshape is a matter of the tensor's type alone.
// CHECK-NOT:    qnn.reshape
// CHECK:        %[[S:.*]] = call @softmax_0(%[[B]]
// CHECK:        %[[OUT:.*]] = quant.scast %[[S]]
// What no family takes stays as it is.
// CHECK:        "qnn.softmax"(%arg1)
// CHECK:        return %[[OUT]]
func.func @main(%x: tensor<1x8x8x16x!x>, %y: tensor<4x4x!x>) -> (tensor<64x16x!p>, tensor<4x4x!p>) {
  %w = "qnn.constant"() {value = dense<1> : tensor<16x3x3x16xi8>} : () -> tensor<16x3x3x16x!w>
  %b = "qnn.constant"() {value = dense<5> : tensor<16xi32>} : () -> tensor<16x!b>
  %0 = "qnn.conv2d"(%x, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<1x8x8x16x!x>, tensor<16x3x3x16x!w>, tensor<16x!b>) -> tensor<1x8x8x16x!x>
  %1 = "qnn.conv2d"(%0, %w, %b) {clamp = array<f32>, dilations = array<i64: 1, 1>, groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<1x8x8x16x!x>, tensor<16x3x3x16x!w>, tensor<16x!b>) -> tensor<1x8x8x16x!x>
  %2 = "qnn.reshape"(%1) : (tensor<1x8x8x16x!x>) -> tensor<64x16x!x>
  %3 = "qnn.softmax"(%2) {axis = 1 : i64, beta = 1.000000e+00 : f32} : (tensor<64x16x!x>) -> tensor<64x16x!p>
  %4 = "qnn.softmax"(%y) {axis = 0 : i64, beta = 1.000000e+00 : f32} : (tensor<4x4x!x>) -> tensor<4x4x!p>
  return %3, %4 : tensor<64x16x!p>, tensor<4x4x!p>
}
