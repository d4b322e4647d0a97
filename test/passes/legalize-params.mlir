// One case for each rule and each class of ops; the rules stand in Inputs/engine.toml.
// RUN: qopt %s -p 'legalize-params{target=%S/Inputs/engine.toml},verify-params' --split-input-file | %filecheck

!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// CHECK: module attributes {qnn.target = "{{.*}}engine.toml"}

// same-as-input, an op that moves values: it moves them in the input's parameters, then they change.
// CHECK-LABEL: func.func @reshape
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x
// CHECK:         %[[MOVED:.*]] = "qnn.reshape"(%[[X]]) : {{.*}} -> tensor<16x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    %[[R:.*]] = "qnn.requantize"(%[[MOVED]]) {qnn.inserted = "same-as-input"} : {{.*}} -> tensor<16x!quant.uniform<i8:f32, 2.500000e-01:-5>>
// CHECK-NEXT:    return %[[R]]
func.func @reshape(%x: tensor<2x8x!a>) -> tensor<16x!b> {
  %r = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<16x!b>
  return %r : tensor<16x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>

// CHECK-LABEL: func.func @keep_reshape
// CHECK-NOT:     qnn.requantize
// CHECK:         return
func.func @keep_reshape(%x: tensor<2x8x!a>) -> tensor<16x!a> {
  %r = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<16x!a>
  return %r : tensor<16x!a>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!u = !quant.uniform<u8:f32, 0.5:131>

// Storage types are parameters, too.
// CHECK-LABEL: func.func @transpose_storage
// CHECK:         %[[MOVED:.*]] = "qnn.transpose"{{.*}} -> tensor<8x2x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    "qnn.requantize"(%[[MOVED]]) {{.*}} -> tensor<8x2x!quant.uniform<u8:f32, 5.000000e-01:131>>
func.func @transpose_storage(%x: tensor<2x8x!a>) -> tensor<8x2x!u> {
  %r = "qnn.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x8x!a>) -> tensor<8x2x!u>
  return %r : tensor<8x2x!u>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// Behind a slice there is less to requantize.
// CHECK-LABEL: func.func @slice_is_smaller_behind
// CHECK:         %[[MOVED:.*]] = "qnn.slice"
// CHECK-NEXT:    "qnn.requantize"(%[[MOVED]])
func.func @slice_is_smaller_behind(%x: tensor<2x8x!a>) -> tensor<2x3x!b> {
  %r = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 2>} : (tensor<2x8x!a>) -> tensor<2x3x!b>
  return %r : tensor<2x3x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// Before a pad there is less to requantize, and the zero point becomes the other zero point.
// CHECK-LABEL: func.func @pad_is_smaller_before
// CHECK:         %[[R:.*]] = "qnn.requantize"{{.*}} -> tensor<2x8x!quant.uniform<i8:f32, 2.500000e-01:-5>>
// CHECK-NEXT:    "qnn.pad"(%[[R]])
func.func @pad_is_smaller_before(%x: tensor<2x8x!a>) -> tensor<2x11x!b> {
  %r = "qnn.pad"(%x) {low = array<i64: 0, 1>, high = array<i64: 0, 2>, value = 0.0 : f32} : (tensor<2x8x!a>) -> tensor<2x11x!b>
  return %r : tensor<2x11x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// Another value is quantized by the input's parameters: it would not be the same one.
// CHECK-LABEL: func.func @keep_pad_of_a_value_before
// CHECK:         %[[PAD:.*]] = "qnn.pad"
// CHECK-NEXT:    "qnn.requantize"(%[[PAD]])
func.func @keep_pad_of_a_value_before(%x: tensor<2x8x!a>) -> tensor<2x11x!b> {
  %r = "qnn.pad"(%x) {low = array<i64: 0, 1>, high = array<i64: 0, 2>, value = 0.3 : f32} : (tensor<2x8x!a>) -> tensor<2x11x!b>
  return %r : tensor<2x11x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// CHECK-LABEL: func.func @resize_nearest_is_smaller_before
// CHECK:         %[[R:.*]] = "qnn.requantize"
// CHECK-NEXT:    "qnn.resize_nearest"(%[[R]])
func.func @resize_nearest_is_smaller_before(%x: tensor<1x2x2x3x!a>) -> tensor<1x4x4x3x!b> {
  %r = "qnn.resize_nearest"(%x) {align_corners = false, half_pixel_centers = false} : (tensor<1x2x2x3x!a>) -> tensor<1x4x4x3x!b>
  return %r : tensor<1x4x4x3x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// Mixing rounds: only behind it numbers stay.
// CHECK-LABEL: func.func @resize_bilinear
// CHECK:         %[[MIXED:.*]] = "qnn.resize_bilinear"
// CHECK-NEXT:    "qnn.requantize"(%[[MIXED]])
func.func @resize_bilinear(%x: tensor<1x2x2x3x!a>) -> tensor<1x4x4x3x!b> {
  %r = "qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = false} : (tensor<1x2x2x3x!a>) -> tensor<1x4x4x3x!b>
  return %r : tensor<1x4x4x3x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// CHECK-LABEL: func.func @max_pool2d
// CHECK:         %[[POOLED:.*]] = "qnn.max_pool2d"{{.*}} -> tensor<1x2x2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    "qnn.requantize"(%[[POOLED]])
func.func @max_pool2d(%x: tensor<1x4x4x3x!a>) -> tensor<1x2x2x3x!b> {
  %r = "qnn.max_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>} : (tensor<1x4x4x3x!a>) -> tensor<1x2x2x3x!b>
  return %r : tensor<1x2x2x3x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// 0.7 is 0.5 in steps of the input, 0.75 in steps of the result: behind the pool numbers would change.
// CHECK-LABEL: func.func @max_pool2d_clamped
// CHECK:         %[[R:.*]] = "qnn.requantize"
// CHECK-NEXT:    "qnn.max_pool2d"(%[[R]])
func.func @max_pool2d_clamped(%x: tensor<1x4x4x3x!a>) -> tensor<1x2x2x3x!b> {
  %r = "qnn.max_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32: 0.0, 0.7>} : (tensor<1x4x4x3x!a>) -> tensor<1x2x2x3x!b>
  return %r : tensor<1x2x2x3x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// same-as-result asks for equal parameters; the mean is taken before they change, as it always was.
// CHECK-LABEL: func.func @avg_pool2d
// CHECK:         %[[POOLED:.*]] = "qnn.avg_pool2d"{{.*}} -> tensor<1x2x2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    "qnn.requantize"(%[[POOLED]]) {qnn.inserted = "same-as-result"}
func.func @avg_pool2d(%x: tensor<1x4x4x3x!a>) -> tensor<1x2x2x3x!b> {
  %r = "qnn.avg_pool2d"(%x) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>} : (tensor<1x4x4x3x!a>) -> tensor<1x2x2x3x!b>
  return %r : tensor<1x2x2x3x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// An op that computes makes its result in the parameters that the rule says.
// CHECK-LABEL: func.func @mean
// CHECK:         %[[MEAN:.*]] = "qnn.mean"{{.*}} -> tensor<1x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    "qnn.requantize"(%[[MEAN]]) {qnn.inserted = "same-as-input"}
func.func @mean(%x: tensor<1x4x4x3x!a>) -> tensor<1x3x!b> {
  %r = "qnn.mean"(%x) {axes = array<i64: 1, 2>, keep_dims = false} : (tensor<1x4x4x3x!a>) -> tensor<1x3x!b>
  return %r : tensor<1x3x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// CHECK-LABEL: func.func @add
// CHECK-SAME:    %[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]:
// CHECK:         %[[R:.*]] = "qnn.requantize"(%[[X]]) {qnn.inserted = "same-as-result"}
// CHECK-NEXT:    "qnn.add"(%[[R]], %[[Y]])
func.func @add(%x: tensor<4x!a>, %y: tensor<4x!b>) -> tensor<4x!b> {
  %r = "qnn.add"(%x, %y) {clamp = array<f32>} : (tensor<4x!a>, tensor<4x!b>) -> tensor<4x!b>
  return %r : tensor<4x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// A free op rescales by itself.
// CHECK-LABEL: func.func @keep_mul
// CHECK-NOT:     qnn.requantize
func.func @keep_mul(%x: tensor<4x!a>, %y: tensor<4x!b>) -> tensor<4x!b> {
  %r = "qnn.mul"(%x, %y) {clamp = array<f32>} : (tensor<4x!a>, tensor<4x!b>) -> tensor<4x!b>
  return %r : tensor<4x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<i8:f32, 0.125:9>

// One requantize for an input that is there twice, none for the one that has the result's parameters.
// CHECK-LABEL: func.func @concat
// CHECK-SAME:    %[[X:[a-z0-9]+]]: {{.*}}, %[[Y:[a-z0-9]+]]: {{.*}}, %[[Z:[a-z0-9]+]]: {{.*}}) ->
// CHECK-DAG:     %[[XB:.*]] = "qnn.requantize"(%[[X]])
// CHECK-DAG:     %[[ZB:.*]] = "qnn.requantize"(%[[Z]])
// CHECK:         "qnn.concat"(%[[XB]], %[[Y]], %[[XB]], %[[ZB]])
func.func @concat(%x: tensor<4x!a>, %y: tensor<4x!b>, %z: tensor<4x!c>) -> tensor<16x!b> {
  %r = "qnn.concat"(%x, %y, %x, %z) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<4x!a>, tensor<4x!b>, tensor<4x!a>, tensor<4x!c>) -> tensor<16x!b>
  return %r : tensor<16x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// Inputs that agree with each other are put together first: one requantize, not two.
// CHECK-LABEL: func.func @concat_of_equals
// CHECK:         %[[ALL:.*]] = "qnn.concat"
// CHECK-NEXT:    %[[R:.*]] = "qnn.requantize"(%[[ALL]])
// CHECK-NEXT:    return %[[R]]
func.func @concat_of_equals(%x: tensor<4x!a>, %y: tensor<4x!a>) -> tensor<8x!b> {
  %r = "qnn.concat"(%x, %y) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<4x!a>, tensor<4x!a>) -> tensor<8x!b>
  return %r : tensor<8x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.1:3>

// fixed: the softmax has its own parameters, its readers get those they had.
// CHECK-LABEL: func.func @softmax
// CHECK:         %[[S:.*]] = "qnn.softmax"{{.*}} -> tensor<2x8x!quant.uniform<i8:f32, 3.906250e-03:-128>>
// CHECK-NEXT:    "qnn.requantize"(%[[S]]) {qnn.inserted = "fixed"}
func.func @softmax(%x: tensor<2x8x!a>) -> tensor<2x8x!a> {
  %r = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<2x8x!a>) -> tensor<2x8x!a>
  return %r : tensor<2x8x!a>
}

// -----
!a = !quant.uniform<i8:f32, 0.1:3>
!s = !quant.uniform<i8:f32, 0.0039070:-128>

// The rule forgives 0.1 %.
// CHECK-LABEL: func.func @keep_softmax
// CHECK-NOT:     qnn.requantize
func.func @keep_softmax(%x: tensor<2x8x!a>) -> tensor<2x8x!s> {
  %r = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<2x8x!a>) -> tensor<2x8x!s>
  return %r : tensor<2x8x!s>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>
!w = !quant.uniform<i8:f32, 0.25>
!acc = !quant.uniform<i32:f32, 0.01>

// derived: only the raw accumulator can be read.
// CHECK-LABEL: func.func @accumulator
// CHECK:         %[[ACC:.*]] = "qnn.fully_connected"{{.*}} -> tensor<2x4x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK-NEXT:    "qnn.requantize"(%[[ACC]]) {qnn.inserted = "derived"} : {{.*}} -> tensor<2x4x!quant.uniform<i32:f32, 1.000000e-02>>
func.func @accumulator(%x: tensor<2x8x!a>, %w: tensor<4x8x!w>) -> tensor<2x4x!acc> {
  %r = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8x!a>, tensor<4x8x!w>) -> tensor<2x4x!acc>
  return %r : tensor<2x4x!acc>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i8:f32, 0.25>
!w = !quant.uniform<i8:f32, 0.5>
!bias = !quant.uniform<i32:f32, 0.25>

// A bias is derived from the input's new scale; it is a constant and needs no requantize.
// CHECK-LABEL: func.func @bias
// CHECK-SAME:    %[[X:[a-z0-9]+]]:
// CHECK-DAG:     %[[XB:.*]] = "qnn.requantize"(%[[X]])
// CHECK-DAG:     %[[B:.*]] = "qnn.constant"() {value = dense<[20, -40]> : tensor<2xi32>} : () -> tensor<2x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK:         "qnn.fully_connected"(%[[XB]], %{{.*}}, %[[B]])
func.func @bias(%x: tensor<2x8x!a>, %w: tensor<2x8x!w>) -> tensor<2x2x!b> {
  %bias = "qnn.constant"() {value = dense<[10, -20]> : tensor<2xi32>} : () -> tensor<2x!bias>
  %r = "qnn.fully_connected"(%x, %w, %bias) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x8x!a>, tensor<2x8x!w>, tensor<2x!bias>) -> tensor<2x2x!b>
  return %r : tensor<2x2x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// Readers that want equal parameters share one requantize, above the ops that move.
// CHECK-LABEL: func.func @share_above_moves
// CHECK-SAME:    %[[X:[a-z0-9]+]]:
// CHECK-COUNT-1: "qnn.requantize"(%[[X]])
// CHECK-NOT:     qnn.requantize
// CHECK:         return
func.func @share_above_moves(%x: tensor<2x8x!a>) -> (tensor<16x!b>, tensor<2x3x!b>, tensor<16x!a>) {
  %flat = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<16x!a>
  %r = "qnn.reshape"(%flat) : (tensor<16x!a>) -> tensor<16x!b>
  %s = "qnn.slice"(%x) {offsets = array<i64: 0, 1>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 2>} : (tensor<2x8x!a>) -> tensor<2x3x!b>
  return %r, %s, %flat : tensor<16x!b>, tensor<2x3x!b>, tensor<16x!a>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<i8:f32, 0.125:9>

// Readers that want different ones get one each, both from the value itself.
// CHECK-LABEL: func.func @keep_apart_what_differs
// CHECK-SAME:    %[[X:[a-z0-9]+]]:
// CHECK-DAG:     %[[B:.*]] = "qnn.reshape"(%[[X]])
// CHECK-DAG:     %[[C:.*]] = "qnn.transpose"(%[[X]])
// CHECK-DAG:     "qnn.requantize"(%[[B]]) {{.*}} 2.500000e-01:-5>>
// CHECK-DAG:     "qnn.requantize"(%[[C]]) {{.*}} 1.250000e-01:9>>
// CHECK:         return
func.func @keep_apart_what_differs(%x: tensor<2x8x!a>) -> (tensor<16x!b>, tensor<8x2x!c>) {
  %r = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<16x!b>
  %s = "qnn.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x8x!a>) -> tensor<8x2x!c>
  return %r, %s : tensor<16x!b>, tensor<8x2x!c>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// A requantize that was there serves new readers.
// CHECK-LABEL: func.func @use_what_is_there
// CHECK-SAME:    %[[X:[a-z0-9]+]]:
// CHECK:         %[[R:.*]] = "qnn.requantize"(%[[X]]) :
// CHECK-NOT:     qnn.inserted
// CHECK:         %[[S:.*]] = "qnn.reshape"(%[[R]])
// CHECK:         return %[[S]], %[[R]]
func.func @use_what_is_there(%x: tensor<2x8x!a>) -> (tensor<16x!b>, tensor<2x8x!b>) {
  %s = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<16x!b>
  %r = "qnn.requantize"(%x) : (tensor<2x8x!a>) -> tensor<2x8x!b>
  return %s, %r : tensor<16x!b>, tensor<2x8x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

// Two changes of parameters round twice: they stay two.
// CHECK-LABEL: func.func @keep_chain
// CHECK-COUNT-2: qnn.requantize
// CHECK-NOT:     qnn.requantize
// CHECK:         return
func.func @keep_chain(%x: tensor<2x8x!b>) -> tensor<4x4x!b> {
  %r = "qnn.reshape"(%x) : (tensor<2x8x!b>) -> tensor<16x!a>
  %s = "qnn.reshape"(%r) : (tensor<16x!a>) -> tensor<4x4x!b>
  return %s : tensor<4x4x!b>
}

// -----
// CHECK-LABEL: func.func @keep_floats
// CHECK-NOT:     qnn.requantize
func.func @keep_floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "qnn.sub"(%x, %x) {clamp = array<f32>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>
!c = !quant.uniform<i8:f32, 0.125:7>

// A requantize of the model's own is not made a second time further up, though the tensor is smaller there.
// CHECK-LABEL: func.func @stay_below_what_is_there
// CHECK:         %[[WIDE:.*]] = "qnn.resize_nearest"(%{{.*}} -> tensor<1x4x4x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    %[[OWN:.*]] = "qnn.requantize"(%[[WIDE]]) : {{.*}} -> tensor<1x4x4x3x!quant.uniform<i8:f32, 2.500000e-01:-5>>
// CHECK-NEXT:    %[[NEW:.*]] = "qnn.requantize"(%[[OWN]]) {qnn.inserted = "same-as-input"}
// CHECK-NEXT:    "qnn.resize_nearest"(%[[NEW]])
func.func @stay_below_what_is_there(%x: tensor<1x2x2x3x!a>) -> tensor<1x8x8x3x!c> {
  %wide = "qnn.resize_nearest"(%x) {align_corners = false, half_pixel_centers = false} : (tensor<1x2x2x3x!a>) -> tensor<1x4x4x3x!a>
  %own = "qnn.requantize"(%wide) : (tensor<1x4x4x3x!a>) -> tensor<1x4x4x3x!b>
  %r = "qnn.resize_nearest"(%own) {align_corners = false, half_pixel_centers = false} : (tensor<1x4x4x3x!b>) -> tensor<1x8x8x3x!c>
  return %r : tensor<1x8x8x3x!c>
}
