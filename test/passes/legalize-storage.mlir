// Activations u8, weights i8: what AVX512-VNNI multiplies.
// RUN: qopt %s -p 'legalize-storage{target=x86-64-vnni}' --split-input-file | %filecheck

!i = !quant.uniform<i8:f32, 5.0e-01:3>
!j = !quant.uniform<i8<-127:127>:f32, 2.5e-01:-7>
!w = !quant.uniform<i8:f32:0, {5.0e-01, 2.5e-01}>

// The filter stays i8; zero points and bounds move with the activations; inputs and outputs keep their types.
// CHECK-LABEL: func.func @relabel_activations(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x4x4x1x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-SAME:    -> tensor<1x4x4x2x!quant.uniform<i8<-127:127>:f32, 2.500000e-01:-7>>
// CHECK:         %[[INPUT:[0-9]+]] = "qnn.requantize"(%[[X]]) {qnn.inserted = "storage"}
// CHECK-SAME:      -> tensor<1x4x4x1x!quant.uniform<u8:f32, 5.000000e-01:131>>
// CHECK:         %[[W:[0-9]+]] = "qnn.constant"() {value = dense<{{.*}}> : tensor<2x1x1x1xi8>}
// CHECK:         %[[Y:[0-9]+]] = "qnn.conv2d"(%[[INPUT]], %[[W]])
// CHECK-SAME:      tensor<2x1x1x1x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>)
// CHECK-SAME:      -> tensor<1x4x4x2x!quant.uniform<u8<1:255>:f32, 2.500000e-01:121>>
// CHECK:         %[[OUTPUT:[0-9]+]] = "qnn.requantize"(%[[Y]]) {qnn.inserted = "storage"}
// CHECK-SAME:      -> tensor<1x4x4x2x!quant.uniform<i8<-127:127>:f32, 2.500000e-01:-7>>
// CHECK:         return %[[OUTPUT]]
func.func @relabel_activations(%x: tensor<1x4x4x1x!i>) -> tensor<1x4x4x2x!j> {
  %w = "qnn.constant"() {value = dense<[[[[1]]], [[[-2]]]]> : tensor<2x1x1x1xi8>} : () -> tensor<2x1x1x1x!w>
  %y = "qnn.conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x4x1x!i>, tensor<2x1x1x1x!w>) -> tensor<1x4x4x2x!j>
  return %y : tensor<1x4x4x2x!j>
}

// -----
// With a uint8 filter scales are multiplied in float32: 0.00059999997317791015 becomes 0.00059999997029080987.
// As int8 the filter's scale carries that rounding.

!u = !quant.uniform<u8:f32, 0.019999999552965164:120>
!w = !quant.uniform<u8:f32, 0.029999999329447746:122>
!r = !quant.uniform<u8:f32, 0.10000000149011612:9>

// CHECK-LABEL: func.func @relabel_filter(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK:         %[[W:[0-9]+]] = "qnn.constant"() {value = dense<{{\[+}}-128]]], {{\[+}}127]]], {{\[+}}-1]]]]> : tensor<3x1x1x1xi8>}
// CHECK-SAME:      -> tensor<3x1x1x1x!quant.uniform<i8:f32, 0.029999999185092729:-6>>
// CHECK:         "qnn.conv2d"(%[[X]], %[[W]])
// CHECK-SAME:      -> tensor<1x4x4x3x!quant.uniform<u8:f32, 0.10000000149011612:9>>
// CHECK-NOT:     qnn.requantize
func.func @relabel_filter(%x: tensor<1x4x4x1x!u>) -> tensor<1x4x4x3x!r> {
  %w = "qnn.constant"() {value = dense<[[[[0]]], [[[255]]], [[[127]]]]> : tensor<3x1x1x1xi8>} : () -> tensor<3x1x1x1x!w>
  %y = "qnn.conv2d"(%x, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 1 : i64, clamp = array<f32: 0.0, 6.0>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x4x1x!u>, tensor<3x1x1x1x!w>) -> tensor<1x4x4x3x!r>
  return %y : tensor<1x4x4x3x!r>
}

// -----
// Two readers, one relabel; the addend is rewritten.

!i = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @share_relabel(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK:         %[[U:[0-9]+]] = "qnn.requantize"(%[[X]])
// CHECK-NOT:     qnn.requantize
// CHECK:         %[[C:[0-9]+]] = "qnn.constant"() {value = dense<[0, -1, -128, -127]> : tensor<4xi8>}
// CHECK-SAME:      -> tensor<4x!quant.uniform<u8:f32, 5.000000e-01:131>>
// CHECK:         %[[SUM:[0-9]+]] = "qnn.add"(%[[U]], %[[C]])
// CHECK:         %[[MOVED:[0-9]+]] = "qnn.reshape"(%[[U]])
// CHECK-SAME:      -> tensor<4x!quant.uniform<u8:f32, 5.000000e-01:131>>
// CHECK:         "qnn.mul"(%[[SUM]], %[[MOVED]])
func.func @share_relabel(%x: tensor<4x!i>) -> tensor<4x!i> {
  %c = "qnn.constant"() {value = dense<[-128, 127, 0, 1]> : tensor<4xi8>} : () -> tensor<4x!i>
  %sum = "qnn.add"(%x, %c) {clamp = array<f32>} : (tensor<4x!i>, tensor<4x!i>) -> tensor<4x!i>
  %moved = "qnn.reshape"(%x) : (tensor<4x!i>) -> tensor<4x!i>
  %y = "qnn.mul"(%sum, %moved) {clamp = array<f32>} : (tensor<4x!i>, tensor<4x!i>) -> tensor<4x!i>
  return %y : tensor<4x!i>
}

// -----
// A network with int8 inside and uint8 around it: the relabels at its borders go away.

!i = !quant.uniform<i8:f32, 5.0e-01:3>
!u = !quant.uniform<u8:f32, 5.0e-01:131>

// CHECK-LABEL: func.func @fold_relabels(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NOT:     qnn.requantize
// CHECK:         %[[Y:[0-9]+]] = "qnn.logistic"(%[[X]])
// CHECK-NOT:     qnn.requantize
// CHECK:         return %[[Y]]
func.func @fold_relabels(%x: tensor<4x!u>) -> tensor<4x!u> {
  %signed = "qnn.requantize"(%x) : (tensor<4x!u>) -> tensor<4x!i>
  %y = "qnn.logistic"(%signed) : (tensor<4x!i>) -> tensor<4x!i>
  %unsigned = "qnn.requantize"(%y) : (tensor<4x!i>) -> tensor<4x!u>
  return %unsigned : tensor<4x!u>
}

// -----
// Means of nine taps have no ties.

!i = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @relabel_odd_pool(
// CHECK:         "qnn.avg_pool2d"
// CHECK-SAME:      -> tensor<1x1x1x2x!quant.uniform<u8:f32, 5.000000e-01:131>>
func.func @relabel_odd_pool(%x: tensor<1x3x3x2x!i>) -> tensor<1x1x1x2x!i> {
  %y = "qnn.avg_pool2d"(%x) {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>} : (tensor<1x3x3x2x!i>) -> tensor<1x1x1x2x!i>
  return %y : tensor<1x1x1x2x!i>
}

// -----
// Of an even number of taps ties round by the sign of the stored sum. What is around the pool changes nevertheless.

!i = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @keep_even_pool(
// CHECK:         %[[U:[0-9]+]] = "qnn.tanh"
// CHECK:         %[[I:[0-9]+]] = "qnn.requantize"(%[[U]]) {qnn.inserted = "storage"}
// CHECK:         "qnn.avg_pool2d"(%[[I]])
// CHECK-SAME:      (tensor<1x2x2x2x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x1x1x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @keep_even_pool(%x: tensor<1x2x2x2x!i>) -> tensor<1x1x1x2x!i> {
  %t = "qnn.tanh"(%x) : (tensor<1x2x2x2x!i>) -> tensor<1x2x2x2x!i>
  %y = "qnn.avg_pool2d"(%t) {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>} : (tensor<1x2x2x2x!i>) -> tensor<1x1x1x2x!i>
  return %y : tensor<1x1x1x2x!i>
}

// -----
// int8 images are mixed in integers, uint8 ones in float32.

!i = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func @keep_bilinear(
// CHECK-NOT:     u8
// CHECK:         return
func.func @keep_bilinear(%x: tensor<1x2x2x2x!i>) -> tensor<1x4x4x2x!i> {
  %y = "qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = false} : (tensor<1x2x2x2x!i>) -> tensor<1x4x4x2x!i>
  return %y : tensor<1x4x4x2x!i>
}

// -----
// A uint8 concat rescales its inputs in float32, an int8 one in fixed point: ties differ.

!i = !quant.uniform<i8:f32, 2.5e-01:3>
!j = !quant.uniform<i8:f32, 5.0e-01:-7>

// CHECK-LABEL: func.func @keep_rescaling_concat(
// CHECK-NOT:     u8
// CHECK:         return
func.func @keep_rescaling_concat(%x: tensor<4x!i>, %y: tensor<4x!j>) -> tensor<8x!j> {
  %z = "qnn.concat"(%x, %y) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<4x!i>, tensor<4x!j>) -> tensor<8x!j>
  return %z : tensor<8x!j>
}

// -----
// Zero points of a signed per-channel filter must be 0, and these are not 128. The activations are u8 already.

!u = !quant.uniform<u8:f32, 5.0e-01:131>
!w = !quant.uniform<u8:f32:0, {5.0e-01:128, 2.5e-01:120}>

// CHECK-LABEL: func.func @keep_filter_with_zero_points(
// CHECK:         "qnn.fully_connected"
// CHECK-SAME:      tensor<2x4x!quant.uniform<u8:f32:0, {5.000000e-01:128,2.500000e-01:120}>>
func.func @keep_filter_with_zero_points(%x: tensor<1x4x!u>) -> tensor<1x2x!u> {
  %w = "qnn.constant"() {value = dense<1> : tensor<2x4xi8>} : () -> tensor<2x4x!w>
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x!u>, tensor<2x4x!w>) -> tensor<1x2x!u>
  return %y : tensor<1x2x!u>
}

// -----
// With zero points of 128 it may become signed.

!u = !quant.uniform<u8:f32, 5.0e-01:131>
!w = !quant.uniform<u8:f32:0, {5.0e-01:128, 2.5e-01:128}>

// CHECK-LABEL: func.func @relabel_filter_per_channel(
// CHECK:         "qnn.fully_connected"
// CHECK-SAME:      tensor<2x4x!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>>
func.func @relabel_filter_per_channel(%x: tensor<1x4x!u>) -> tensor<1x2x!u> {
  %w = "qnn.constant"() {value = dense<1> : tensor<2x4xi8>} : () -> tensor<2x4x!w>
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x!u>, tensor<2x4x!w>) -> tensor<1x2x!u>
  return %y : tensor<1x2x!u>
}

// -----
// Only 8-bit values have two labels: an i32 result and an i16 value keep theirs.

!i = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32, 5.0e-01>
!acc = !quant.uniform<i32:f32, 2.5e-01>
!wide = !quant.uniform<i16:f32, 2.5e-01>

// CHECK-LABEL: func.func @keep_wide_values(
// CHECK:         "qnn.fully_connected"
// CHECK-SAME:      (tensor<1x4x!quant.uniform<u8:f32, 5.000000e-01:131>>, {{.*}}) -> tensor<1x2x!quant.uniform<i32:f32, 2.500000e-01>>
// CHECK:         "qnn.requantize"
// CHECK-SAME:      -> tensor<1x2x!quant.uniform<i16:f32, 2.500000e-01>>
// CHECK:         "qnn.tanh"
// CHECK-SAME:      -> tensor<1x2x!quant.uniform<i16:f32, 2.500000e-01>>
func.func @keep_wide_values(%x: tensor<1x4x!i>) -> tensor<1x2x!wide> {
  %w = "qnn.constant"() {value = dense<1> : tensor<2x4xi8>} : () -> tensor<2x4x!w>
  %y = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x4x!i>, tensor<2x4x!w>) -> tensor<1x2x!acc>
  %z = "qnn.requantize"(%y) : (tensor<1x2x!acc>) -> tensor<1x2x!wide>
  %t = "qnn.tanh"(%z) : (tensor<1x2x!wide>) -> tensor<1x2x!wide>
  return %t : tensor<1x2x!wide>
}

// -----
// Another function gets what it always got.

!i = !quant.uniform<i8:f32, 5.0e-01:3>

// CHECK-LABEL: func.func private @other(tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>)
func.func private @other(tensor<4x!i>)

// CHECK-LABEL: func.func @keep_call(
// CHECK:         %[[U:[0-9]+]] = "qnn.tanh"
// CHECK:         %[[I:[0-9]+]] = "qnn.requantize"(%[[U]])
// CHECK:         call @other(%[[I]])
func.func @keep_call(%x: tensor<4x!i>) {
  %t = "qnn.tanh"(%x) : (tensor<4x!i>) -> tensor<4x!i>
  call @other(%t) : (tensor<4x!i>) -> ()
  return
}

// -----
// XNNPACK rounds a requantize between equal signs once, one between different signs twice.

!i = !quant.uniform<i8:f32, 0.029999999329447746:3>
!u = !quant.uniform<u8:f32, 0.05000000074505806:128>

// CHECK-LABEL: func.func @keep_requantize_of_xnnpack(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK:         "qnn.requantize"(%[[X]]) : (tensor<4x!quant.uniform<i8:{{.*}}>>) -> tensor<4x!quant.uniform<u8:
// CHECK-NEXT:    return
module attributes {qnn.numerics = "xnnpack"} {
  func.func @keep_requantize_of_xnnpack(%x: tensor<4x!i>) -> tensor<4x!u> {
    %y = "qnn.requantize"(%x) : (tensor<4x!i>) -> tensor<4x!u>
    return %y : tensor<4x!u>
  }
}
