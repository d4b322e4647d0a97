// RUN: qopt %s -p fold-batch-norm | %filecheck
// RUN: qopt %s -p fold-batch-norm --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32, 1.0e-02>
!m = !quant.uniform<i8:f32, 1.0e-02>

// CHECK-LABEL: func.func @fold_mul_and_add(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-DAG:     %[[W:.+]] = "qnn.constant"() {value = dense<{{\[\[\[\[}}2.000000e+00, 4.000000e+00]]], {{\[\[\[}}9.000000e+00, 1.200000e+01]]]]> : tensor<2x1x1x2xf32>}
// CHECK-DAG:     %[[B:.+]] = "qnn.constant"() {value = dense<[1.200000e+01, 1.800000e+01]> : tensor<2xf32>}
// CHECK-NEXT:    %[[Y:.+]] = "qnn.conv2d"(%[[X]], %[[W]], %[[B]]) {clamp = array<f32: 0.000000e+00, 6.000000e+00>
// CHECK-NEXT:    return %[[Y]]
func.func @fold_mul_and_add(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %w = "qnn.constant"() {value = dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : tensor<2x1x1x2xf32>} : () -> tensor<2x1x1x2xf32>
  %b = "qnn.constant"() {value = dense<[5.0, 6.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %m = "qnn.constant"() {value = dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %a = "qnn.constant"() {value = dense<[2.0, 0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "qnn.conv2d"(%x, %w, %b) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>}
    : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %1 = "qnn.mul"(%0, %m) {clamp = array<f32>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = "qnn.add"(%a, %1) {clamp = array<f32: 0.0, 6.0>} : (tensor<2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}

// A subtraction gives the bias that there was not; one value serves all channels.
// CHECK-LABEL: func.func @fold_sub(
// CHECK-DAG:     %[[B:.+]] = "qnn.constant"() {value = dense<-2.500000e+00> : tensor<2xf32>}
// CHECK:         "qnn.fully_connected"(%{{.+}}, %{{.+}}, %[[B]]) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>}
// CHECK-NEXT:    return
func.func @fold_sub(%x: tensor<1x3xf32>, %w: tensor<2x3xf32>) -> tensor<1x2xf32> {
  %k = "qnn.constant"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %a = "qnn.constant"() {value = dense<2.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "qnn.fully_connected"(%x, %k) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  %1 = "qnn.sub"(%0, %a) {clamp = array<f32>} : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// Quantized, a multiplication by one does nothing.
// CHECK-LABEL: func.func @drop_quantized_one(
// CHECK-NEXT:    %[[Y:.+]] = "qnn.fully_connected"
// CHECK-NEXT:    return %[[Y]]
func.func @drop_quantized_one(%x: tensor<1x3x!q>, %w: tensor<2x3x!w>) -> tensor<1x2x!q> {
  %m = "qnn.constant"() {value = dense<100> : tensor<2xi8>} : () -> tensor<2x!m>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3x!q>, tensor<2x3x!w>) -> tensor<1x2x!q>
  %1 = "qnn.mul"(%0, %m) {clamp = array<f32>} : (tensor<1x2x!q>, tensor<2x!m>) -> tensor<1x2x!q>
  return %1 : tensor<1x2x!q>
}

// Else it comes after a rounding.
// WHY:         fold_quantized: no match: qnn.mul {{.*}} qnn.fully_connected rounds its result before it, and it changes {{[0-9]+}} of 512 (value, channel) pairs
// CHECK-LABEL: func.func @keep_quantized(
// CHECK:         qnn.mul
func.func @keep_quantized(%x: tensor<1x3x!q>, %w: tensor<2x3x!w>) -> tensor<1x2x!q> {
  %m = "qnn.constant"() {value = dense<[100, 50]> : tensor<2xi8>} : () -> tensor<2x!m>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3x!q>, tensor<2x3x!w>) -> tensor<1x2x!q>
  %1 = "qnn.mul"(%0, %m) {clamp = array<f32>} : (tensor<1x2x!q>, tensor<2x!m>) -> tensor<1x2x!q>
  return %1 : tensor<1x2x!q>
}

// WHY:         fold_affine: no match: qnn.mul {{.*}} qnn.fully_connected has an activation before it
// CHECK-LABEL: func.func @keep_after_activation(
// CHECK:         qnn.mul
func.func @keep_after_activation(%x: tensor<1x3xf32>) -> tensor<1x2xf32> {
  %k = "qnn.constant"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %a = "qnn.constant"() {value = dense<2.5> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "qnn.fully_connected"(%x, %k) {clamp = array<f32: 0.0, 6.0>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  %1 = "qnn.mul"(%0, %a) {clamp = array<f32>} : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// WHY:         fold_affine: no match: qnn.add {{.*}} the constants are not one value per output channel, or not known
// CHECK-LABEL: func.func @keep_other_axis(
// CHECK:         qnn.add
func.func @keep_other_axis(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %k = "qnn.constant"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %a = "qnn.constant"() {value = dense<2.5> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %0 = "qnn.fully_connected"(%x, %k) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %1 = "qnn.add"(%0, %a) {clamp = array<f32>} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// WHY:         fold_affine: no match: qnn.mul {{.*}} the constants are not one value per output channel, or not known
// CHECK-LABEL: func.func @keep_unknown_weights(
// CHECK:         qnn.mul
func.func @keep_unknown_weights(%x: tensor<1x3xf32>, %w: tensor<2x3xf32>) -> tensor<1x2xf32> {
  %a = "qnn.constant"() {value = dense<2.5> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  %1 = "qnn.mul"(%0, %a) {clamp = array<f32>} : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// WHY:         fold_affine: no match: qnn.sub {{.*}} the constant is what is subtracted from
// CHECK-LABEL: func.func @keep_subtrahend(
// CHECK:         qnn.sub
func.func @keep_subtrahend(%x: tensor<1x3xf32>) -> tensor<1x2xf32> {
  %k = "qnn.constant"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %a = "qnn.constant"() {value = dense<2.5> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "qnn.fully_connected"(%x, %k) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  %1 = "qnn.sub"(%a, %0) {clamp = array<f32>} : (tensor<2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// WHY:         fold_affine: no match: qnn.mul {{.*}} the folded weights or biases are not finite
// CHECK-LABEL: func.func @keep_overflow(
// CHECK:         qnn.mul
func.func @keep_overflow(%x: tensor<1x3xf32>) -> tensor<1x2xf32> {
  %k = "qnn.constant"() {value = dense<1.0e30> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %a = "qnn.constant"() {value = dense<1.0e30> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "qnn.fully_connected"(%x, %k) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  %1 = "qnn.mul"(%0, %a) {clamp = array<f32>} : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}
