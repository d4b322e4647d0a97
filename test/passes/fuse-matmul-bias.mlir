// RUN: qopt %s -p fuse-matmul-bias | %filecheck
// RUN: qopt %s -p fuse-matmul-bias --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32, 2.5e-01>
!acc = !quant.uniform<i32:f32, 1.25e-01>
!half = !quant.uniform<i32:f32, 6.25e-02>

// CHECK-LABEL: func.func @fuse_accumulator(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: {{.*}}, %[[W:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[B:.+]] = "qnn.constant"() {value = dense<[100, -200]> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK-NEXT:    %[[Y:.+]] = "qnn.fully_connected"(%[[X]], %[[W]], %[[B]]) {{.*}} -> tensor<1x2x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK-NEXT:    return %[[Y]]
func.func @fuse_accumulator(%x: tensor<1x3x!q>, %w: tensor<2x3x!w>) -> tensor<1x2x!acc> {
  %b = "qnn.constant"() {value = dense<[100, -200]> : tensor<2xi32>} : () -> tensor<2x!acc>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3x!q>, tensor<2x3x!w>) -> tensor<1x2x!acc>
  %1 = "qnn.add"(%0, %b) {clamp = array<f32>} : (tensor<1x2x!acc>, tensor<2x!acc>) -> tensor<1x2x!acc>
  return %1 : tensor<1x2x!acc>
}

// A bias that is there already is added to; the sum's activation is the product's.
// CHECK-LABEL: func.func @fuse_second_bias(
// CHECK-NEXT:    %[[B:.+]] = "qnn.constant"() {value = dense<[105, -193]> : tensor<2xi32>}
// CHECK-NEXT:    "qnn.fully_connected"(%{{.+}}, %{{.+}}, %[[B]]) {clamp = array<f32: 0.000000e+00, 6.000000e+00>
// CHECK-NEXT:    return
func.func @fuse_second_bias(%x: tensor<1x3x!q>, %w: tensor<2x3x!w>) -> tensor<1x2x!acc> {
  %a = "qnn.constant"() {value = dense<[5, 7]> : tensor<2xi32>} : () -> tensor<2x!acc>
  %b = "qnn.constant"() {value = dense<[[100, -200]]> : tensor<1x2xi32>} : () -> tensor<1x2x!acc>
  %0 = "qnn.fully_connected"(%x, %w, %a) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x3x!q>, tensor<2x3x!w>, tensor<2x!acc>) -> tensor<1x2x!acc>
  %1 = "qnn.add"(%b, %0) {clamp = array<f32: 0.0, 6.0>} : (tensor<1x2x!acc>, tensor<1x2x!acc>) -> tensor<1x2x!acc>
  return %1 : tensor<1x2x!acc>
}

// CHECK-LABEL: func.func @fuse_float(
// CHECK:         "qnn.fully_connected"(%{{.+}}, %{{.+}}, %{{.+}})
// CHECK-NEXT:    return
func.func @fuse_float(%x: tensor<1x3xf32>, %w: tensor<2x3xf32>) -> tensor<1x2xf32> {
  %b = "qnn.constant"() {value = dense<[1.5, 2.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  %1 = "qnn.add"(%0, %b) {clamp = array<f32>} : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %1 : tensor<1x2xf32>
}

// The product has been rounded to 8 bits: a bias inside would be added before that.
// WHY:         fuse_bias: no match: qnn.add {{.*}} qnn.fully_connected gives i8: it is rounded before the sum, not after
// CHECK-LABEL: func.func @keep_rounded(
// CHECK:         qnn.add
func.func @keep_rounded(%x: tensor<1x3x!q>, %w: tensor<2x3x!w>) -> tensor<1x2x!q> {
  %b = "qnn.constant"() {value = dense<[10, -20]> : tensor<2xi8>} : () -> tensor<2x!q>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3x!q>, tensor<2x3x!w>) -> tensor<1x2x!q>
  %1 = "qnn.add"(%0, %b) {clamp = array<f32>} : (tensor<1x2x!q>, tensor<2x!q>) -> tensor<1x2x!q>
  return %1 : tensor<1x2x!q>
}

// i32, but of another scale than input x filter.
// WHY:         fuse_bias: no match: qnn.add {{.*}} the i32 result of qnn.fully_connected is not its accumulator
// CHECK-LABEL: func.func @keep_rescaled(
// CHECK:         qnn.add
func.func @keep_rescaled(%x: tensor<1x3x!q>, %w: tensor<2x3x!w>) -> tensor<1x2x!half> {
  %b = "qnn.constant"() {value = dense<[100, -200]> : tensor<2xi32>} : () -> tensor<2x!half>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3x!q>, tensor<2x3x!w>) -> tensor<1x2x!half>
  %1 = "qnn.add"(%0, %b) {clamp = array<f32>} : (tensor<1x2x!half>, tensor<2x!half>) -> tensor<1x2x!half>
  return %1 : tensor<1x2x!half>
}

// WHY:         fuse_bias: no match: qnn.add {{.*}} qnn.fully_connected has an activation before the sum
// CHECK-LABEL: func.func @keep_after_activation(
// CHECK:         qnn.add
func.func @keep_after_activation(%x: tensor<1x3x!q>, %w: tensor<2x3x!w>) -> tensor<1x2x!acc> {
  %b = "qnn.constant"() {value = dense<[100, -200]> : tensor<2xi32>} : () -> tensor<2x!acc>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32: 0.0, 6.0>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3x!q>, tensor<2x3x!w>) -> tensor<1x2x!acc>
  %1 = "qnn.add"(%0, %b) {clamp = array<f32>} : (tensor<1x2x!acc>, tensor<2x!acc>) -> tensor<1x2x!acc>
  return %1 : tensor<1x2x!acc>
}

// One value per row, not per output channel.
// WHY:         fuse_bias: no match: qnn.add {{.*}} the constants are not one value per output channel, or their data is not there
// CHECK-LABEL: func.func @keep_rows(
// CHECK:         qnn.add
func.func @keep_rows(%x: tensor<2x3x!q>, %w: tensor<2x3x!w>) -> tensor<2x2x!acc> {
  %b = "qnn.constant"() {value = dense<[[100], [-200]]> : tensor<2x1xi32>} : () -> tensor<2x1x!acc>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x3x!q>, tensor<2x3x!w>) -> tensor<2x2x!acc>
  %1 = "qnn.add"(%0, %b) {clamp = array<f32>} : (tensor<2x2x!acc>, tensor<2x1x!acc>) -> tensor<2x2x!acc>
  return %1 : tensor<2x2x!acc>
}

// WHY:         fuse_bias: no match: qnn.add {{.*}} no sum of a fully_connected and a constant
// CHECK-LABEL: func.func @keep_variable(
// CHECK:         qnn.add
func.func @keep_variable(%x: tensor<1x3x!q>, %w: tensor<2x3x!w>, %b: tensor<2x!acc>) -> tensor<1x2x!acc> {
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x3x!q>, tensor<2x3x!w>) -> tensor<1x2x!acc>
  %1 = "qnn.add"(%0, %b) {clamp = array<f32>} : (tensor<1x2x!acc>, tensor<2x!acc>) -> tensor<1x2x!acc>
  return %1 : tensor<1x2x!acc>
}
