// RUN: qopt %s -p fold-pad | %filecheck
// RUN: qopt %s -p fold-pad --explain -o /dev/null 2>&1 | %filecheck --check-prefix=WHY

!q = !quant.uniform<i8:f32, 5.0e-01:3>
!r = !quant.uniform<i8:f32, 2.5e-01:3>
!w = !quant.uniform<i8:f32, 1.0e-02>

// CHECK-LABEL: func.func @fold_into_conv2d(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: {{.*}}, %[[W:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[Y:.+]] = "qnn.conv2d"(%[[X]], %[[W]]) {{.*}}padding = array<i64: 1, 3, 3, 4>
// CHECK-NEXT:    return %[[Y]]
func.func @fold_into_conv2d(%x: tensor<1x4x4x2x!q>, %w: tensor<2x3x3x2x!w>) -> tensor<1x6x9x2x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 1, 2, 0>, high = array<i64: 0, 2, 3, 0>, value = 0.0 : f32} : (tensor<1x4x4x2x!q>) -> tensor<1x7x9x2x!q>
  %1 = "qnn.conv2d"(%0, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 1, 1>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x7x9x2x!q>, tensor<2x3x3x2x!w>) -> tensor<1x6x9x2x!q>
  return %1 : tensor<1x6x9x2x!q>
}

// Padding takes no part in a max_pool2d, and nor does the lowest value there is.
// CHECK-LABEL: func.func @fold_into_max_pool2d(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    "qnn.max_pool2d"(%[[X]]) {{.*}}padding = array<i64: 1, 0, 1, 0>
// CHECK-NEXT:    return
func.func @fold_into_max_pool2d(%x: tensor<1x4x4x2x!q>) -> tensor<1x4x4x2x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 0, 0, 0>, value = 0xFF800000 : f32} : (tensor<1x4x4x2x!q>) -> tensor<1x5x5x2x!q>
  %1 = "qnn.max_pool2d"(%0) {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
    : (tensor<1x5x5x2x!q>) -> tensor<1x4x4x2x!q>
  return %1 : tensor<1x4x4x2x!q>
}

// A pad of nothing.
// CHECK-LABEL: func.func @drop_empty(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    return %[[X]]
func.func @drop_empty(%x: tensor<4x!q>) -> tensor<4x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0>, high = array<i64: 0>, value = 1.0 : f32} : (tensor<4x!q>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// The pad stays for who needs it.
// WHY:         fold_into_user: no match: qnn.pad {{.*}} func.return has no padding
// CHECK-LABEL: func.func @fold_beside_other_user(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: {{.*}}, %{{.+}}: tensor
// CHECK-NEXT:    %[[P:.+]] = "qnn.pad"(%[[X]])
// CHECK-NEXT:    %[[Y:.+]] = "qnn.conv2d"(%[[X]],
// CHECK-NEXT:    return %[[P]], %[[Y]]
func.func @fold_beside_other_user(%x: tensor<1x4x4x2xf32>, %w: tensor<2x3x3x2xf32>) -> (tensor<1x6x6x2xf32>, tensor<1x4x4x2xf32>) {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>, value = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x6x6x2xf32>
  %1 = "qnn.conv2d"(%0, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x6x6x2xf32>, tensor<2x3x3x2xf32>) -> tensor<1x4x4x2xf32>
  return %0, %1 : tensor<1x6x6x2xf32>, tensor<1x4x4x2xf32>
}

// A convolution pads with real zeros.
// WHY:         fold_into_user: no match: qnn.pad {{.*}} its value is not the zero point
// CHECK-LABEL: func.func @keep_other_value(
// CHECK:         qnn.pad
func.func @keep_other_value(%x: tensor<1x4x4x2x!q>, %w: tensor<2x3x3x2x!w>) -> tensor<1x4x4x2x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>, value = 0.5 : f32} : (tensor<1x4x4x2x!q>) -> tensor<1x6x6x2x!q>
  %1 = "qnn.conv2d"(%0, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x6x6x2x!q>, tensor<2x3x3x2x!w>) -> tensor<1x4x4x2x!q>
  return %1 : tensor<1x4x4x2x!q>
}

// Zero may be the largest of a window.
// WHY:         fold_into_user: no match: qnn.pad {{.*}} its value is not the lowest one
// CHECK-LABEL: func.func @keep_zero_before_max_pool2d(
// CHECK:         qnn.pad
func.func @keep_zero_before_max_pool2d(%x: tensor<1x4x4x2x!q>) -> tensor<1x4x4x2x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 0, 0, 0>, value = 0.0 : f32} : (tensor<1x4x4x2x!q>) -> tensor<1x5x5x2x!q>
  %1 = "qnn.max_pool2d"(%0) {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
    : (tensor<1x5x5x2x!q>) -> tensor<1x4x4x2x!q>
  return %1 : tensor<1x4x4x2x!q>
}

// A window that lies in the padding alone has no largest value.
// WHY:         fold_into_user: no match: qnn.pad {{.*}} (C2) padding: got [2, 0, 0, 0], expected less than the window [2, 2]
// CHECK-LABEL: func.func @keep_wide_pad_before_max_pool2d(
// CHECK:         qnn.pad
func.func @keep_wide_pad_before_max_pool2d(%x: tensor<1x4x4x2x!q>) -> tensor<1x5x3x2x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 2, 0, 0>, high = array<i64: 0, 0, 0, 0>, value = 0xFF800000 : f32} : (tensor<1x4x4x2x!q>) -> tensor<1x6x4x2x!q>
  %1 = "qnn.max_pool2d"(%0) {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
    : (tensor<1x6x4x2x!q>) -> tensor<1x5x3x2x!q>
  return %1 : tensor<1x5x3x2x!q>
}

// A pad's zeros count in a mean, padding does not.
// WHY:         fold_into_user: no match: qnn.pad {{.*}} qnn.avg_pool2d does not count its padding: it would divide by another number of taps
// CHECK-LABEL: func.func @keep_before_avg_pool2d(
// CHECK:         qnn.pad
func.func @keep_before_avg_pool2d(%x: tensor<1x4x4x2x!q>) -> tensor<1x4x4x2x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 0, 0, 0>, value = 0.0 : f32} : (tensor<1x4x4x2x!q>) -> tensor<1x5x5x2x!q>
  %1 = "qnn.avg_pool2d"(%0) {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
    : (tensor<1x5x5x2x!q>) -> tensor<1x4x4x2x!q>
  return %1 : tensor<1x4x4x2x!q>
}

// WHY:         fold_into_user: no match: qnn.pad {{.*}} it pads batch or channels
// CHECK-LABEL: func.func @keep_channels(
// CHECK:         qnn.pad
func.func @keep_channels(%x: tensor<1x4x4x1x!q>, %w: tensor<2x1x1x2x!w>) -> tensor<1x4x4x2x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 0, 0, 1>, high = array<i64: 0, 0, 0, 0>, value = 0.0 : f32} : (tensor<1x4x4x1x!q>) -> tensor<1x4x4x2x!q>
  %1 = "qnn.conv2d"(%0, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x4x4x2x!q>, tensor<2x1x1x2x!w>) -> tensor<1x4x4x2x!q>
  return %1 : tensor<1x4x4x2x!q>
}

// WHY:         fold_into_user: no match: qnn.pad {{.*}} it changes the parameters, too
// CHECK-LABEL: func.func @keep_rescaling_pad(
// CHECK:         qnn.pad
func.func @keep_rescaling_pad(%x: tensor<1x4x4x2x!r>, %w: tensor<2x3x3x2x!w>) -> tensor<1x4x4x2x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>, value = 0.0 : f32} : (tensor<1x4x4x2x!r>) -> tensor<1x6x6x2x!q>
  %1 = "qnn.conv2d"(%0, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>,
    groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>}
    : (tensor<1x6x6x2x!q>, tensor<2x3x3x2x!w>) -> tensor<1x4x4x2x!q>
  return %1 : tensor<1x4x4x2x!q>
}
