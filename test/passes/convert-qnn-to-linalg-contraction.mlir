// Contractions: one tagged linalg.generic that accumulates in i32, then one elementwise rescale.
// RUN: qopt %s -p convert-qnn-to-linalg,canonicalize --split-input-file | %filecheck

!x = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32:0, {0.25, 0.5, 0.25}>
!b = !quant.uniform<i32:f32:0, {0.125, 0.25, 0.125}>
!y = !quant.uniform<i8:f32, 1.0:-5>

// The border is the input's zero point. Each bias less 3 times the sum of its 18 weights: 100 - 54, ...
// CHECK-LABEL: func.func @conv2d
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x2xi8>) -> tensor<1x4x4x3xi8>
// CHECK-DAG:     %[[SHIFTS:.*]] = arith.constant dense<[2, 1, 2]> : tensor<3xi32>
// CHECK-DAG:     %[[W:.*]] = arith.constant dense<1> : tensor<3x3x3x2xi8>
// CHECK-DAG:     %[[B:.*]] = arith.constant dense<[46, 146, 246]> : tensor<3xi32>
// CHECK-DAG:     %[[ZERO_POINT:.*]] = arith.constant 3 : i8
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[X]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK:         tensor.yield %[[ZERO_POINT]] : i8
// CHECK:         %[[START:.*]] = linalg.broadcast ins(%[[B]] : tensor<3xi32>) outs(%{{.*}} : tensor<1x4x4x3xi32>) dimensions = [0, 1, 2]
// CHECK:         %[[ACC:.*]] = linalg.generic {{.*}}"parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"
// CHECK-SAME:      ins(%[[PADDED]], %[[W]] : {{.*}}) outs(%[[START]] : {{.*}}) attrs = {qnn.contraction = "conv2d"}
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: i8, %[[WEIGHT:.*]]: i8, %[[OUT:.*]]: i32):
// CHECK-DAG:       %[[WIDE_IN:.*]] = arith.extsi %[[IN]] : i8 to i32
// CHECK-DAG:       %[[WIDE_WEIGHT:.*]] = arith.extsi %[[WEIGHT]] : i8 to i32
// CHECK:           %[[PRODUCT:.*]] = arith.muli %[[WIDE_IN]], %[[WIDE_WEIGHT]] : i32
// CHECK-NEXT:      %[[SUM:.*]] = arith.addi %[[OUT]], %[[PRODUCT]] : i32
// CHECK-NEXT:      linalg.yield %[[SUM]] : i32
// CHECK:         linalg.generic {{.*}} ins(%[[ACC]], %[[SHIFTS]] : tensor<1x4x4x3xi32>, tensor<3xi32>) outs(%{{.*}} : tensor<1x4x4x3xi8>)
// CHECK-NOT:     linalg.generic
// CHECK:           linalg.yield %{{.*}} : i8
func.func @conv2d(%x: tensor<1x4x4x2x!x>) -> tensor<1x4x4x3x!y> {
  %w = "qnn.constant"() {value = dense<1> : tensor<3x3x3x2xi8>} : () -> tensor<3x3x3x2x!w>
  %b = "qnn.constant"() {value = dense<[100, 200, 300]> : tensor<3xi32>} : () -> tensor<3x!b>
  %0 = "qnn.conv2d"(%x, %w, %b) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, groups = 1 : i64, clamp = array<f32: 0.0, 6.0>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<1x4x4x2x!x>, tensor<3x3x3x2x!w>, tensor<3x!b>) -> tensor<1x4x4x3x!y>
  return %0 : tensor<1x4x4x3x!y>
}

// -----
// Channels innermost: the filter [2, 1, 3, 1] becomes [1, 3, 2]. Without a bias, zeros.

!x = !quant.uniform<i8:f32, 5.0e-01>
!w = !quant.uniform<i8:f32, 0.25>

// CHECK:       affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3, d2 * 2 + d4, d5)>
// CHECK-LABEL: func.func @depthwise
// CHECK-DAG:     %[[W:.*]] = arith.constant dense<{{.*}}1, 4], [2, 5], [3, 6{{.*}}> : tensor<1x3x2xi8>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK:         linalg.fill ins(%[[ZERO]] : i32)
// CHECK:         linalg.generic {{.*}}"reduction", "reduction", "parallel"]{{.*}}%[[W]] {{.*}}qnn.contraction = "depthwise_conv2d"
func.func @depthwise(%x: tensor<1x5x7x2x!x>) -> tensor<1x3x3x2x!x> {
  %w = "qnn.constant"() {value = dense<[[[[1], [2], [3]]], [[[4], [5], [6]]]]> : tensor<2x1x3x1xi8>} : () -> tensor<2x1x3x1x!w>
  %0 = "qnn.conv2d"(%x, %w) {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 2 : i64, clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<1x5x7x2x!x>, tensor<2x1x3x1x!w>) -> tensor<1x3x3x2x!x>
  return %0 : tensor<1x3x3x2x!x>
}

// -----
// Unsigned weights with a zero point: it is subtracted in the loop. An i32 result of the accumulator's scale is the accumulator.

!x = !quant.uniform<u8:f32, 5.0e-01>
!w = !quant.uniform<u8:f32, 0.25:128>
!acc = !quant.uniform<i32:f32, 0.125>

// CHECK-LABEL: func.func @accumulator_as_result
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xi8>
// CHECK-DAG:     %[[C:.*]] = arith.constant 128 : i32
// CHECK:         %[[ACC:.*]] = linalg.generic {{.*}}qnn.contraction = "matmul"
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: i8, %[[WEIGHT:.*]]: i8, %[[OUT:.*]]: i32):
// CHECK:           %[[WIDE:.*]] = arith.extui %[[WEIGHT]] : i8 to i32
// CHECK-NEXT:      arith.subi %[[WIDE]], %[[C]] : i32
// CHECK:         return %[[ACC]] : tensor<2x3xi32>
func.func @accumulator_as_result(%x: tensor<2x4x!x>) -> tensor<2x3x!acc> {
  %w = "qnn.constant"() {value = dense<7> : tensor<3x4xi8>} : () -> tensor<3x4x!w>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x!x>, tensor<3x4x!w>) -> tensor<2x3x!acc>
  return %0 : tensor<2x3x!acc>
}

// -----
// A filter that is no constant: nothing can be folded, so the input's zero point is subtracted in the loop too.

!x = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32, 0.25>

// CHECK-LABEL: func.func @filter_is_an_argument
// CHECK-DAG:     %[[ZERO_POINT:.*]] = arith.constant 3 : i32
// CHECK:         linalg.generic {{.*}}qnn.contraction = "matmul"
// CHECK:           %[[WIDE:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK:           arith.subi %{{.*}}, %[[ZERO_POINT]] : i32
func.func @filter_is_an_argument(%x: tensor<2x4x!x>, %w: tensor<3x4x!w>) -> tensor<2x3x!x> {
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x!x>, tensor<3x4x!w>) -> tensor<2x3x!x>
  return %0 : tensor<2x3x!x>
}

// -----
// The xnnpack mode rescales in float32: rounded half to even, limited before it becomes an integer.

!x = !quant.uniform<i8:f32, 5.0e-01>
!w = !quant.uniform<i8:f32, 0.25>

module attributes {qnn.numerics = "xnnpack"} {
  // CHECK-LABEL: func.func @xnnpack
  // CHECK-DAG:     %[[SCALE:.*]] = arith.constant 2.500000e-01 : f32
  // CHECK:         qnn.contraction = "matmul"
  // CHECK:         linalg.generic
  // CHECK:           %[[ACC:.*]] = arith.sitofp %{{.*}} : i32 to f32
  // CHECK-NEXT:      %[[REAL:.*]] = arith.mulf %[[ACC]], %[[SCALE]] : f32
  // CHECK-NEXT:      %[[ROUND:.*]] = math.roundeven %[[REAL]] : f32
  // CHECK-NEXT:      arith.cmpf ogt, %[[ROUND]]
  // CHECK-NEXT:      arith.select
  // CHECK-NEXT:      arith.cmpf olt
  // CHECK-NEXT:      %[[LIMITED:.*]] = arith.select
  // CHECK-NEXT:      arith.fptosi %[[LIMITED]] : f32 to i32
  func.func @xnnpack(%x: tensor<2x4x!x>) -> tensor<2x3x!x> {
    %w = "qnn.constant"() {value = dense<7> : tensor<3x4xi8>} : () -> tensor<3x4x!w>
    %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x4x!x>, tensor<3x4x!w>) -> tensor<2x3x!x>
    return %0 : tensor<2x3x!x>
  }
}

// -----
// Floats: the same contraction in f32, the activation after it.

// CHECK-LABEL: func.func @float
// CHECK:         linalg.generic {{.*}}qnn.contraction = "matmul"
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK:         linalg.generic
// CHECK:           arith.cmpf olt
func.func @float(%x: tensor<2x4xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "qnn.fully_connected"(%x, %w, %b) {clamp = array<f32: 0.0, 0x7F800000>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----
// Sums of floats keep their order: the innermost loop runs over outputs, so a constant filter is transposed.

// CHECK-LABEL: func.func @float_constant_filter
// CHECK:         %[[W:.*]] = arith.constant dense<{{.*}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00{{.*}}> : tensor<2x2xf32>
// CHECK:         linalg.generic {{.*}}["parallel", "reduction", "parallel"]{{.*}} ins(%{{.*}}, %[[W]] : {{.*}}qnn.contraction = "matmul"
func.func @float_constant_filter(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %w = "qnn.constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0 = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}
