// add, mul, quantize, dequantize, requantize and clamp: one elementwise linalg.generic each.
// RUN: qopt %s -p convert-qnn-to-linalg,canonicalize --split-input-file | %filecheck

!a = !quant.uniform<i8:f32, 5.0e-01:3>
!b = !quant.uniform<i8:f32, 2.5e-01:-7>

// Both inputs 20 bits to the left, each rescaled twice rounded; a dimension of extent 1 is read at 0.
// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-LABEL: func.func @add
// CHECK-SAME:    %[[A:.*]]: tensor<2x3xi8>, %[[B:.*]]: tensor<1x3xi8>
// CHECK-DAG:     %[[SHIFT:.*]] = arith.constant 20 : i32
// CHECK-DAG:     %[[ZERO_A:.*]] = arith.constant 3 : i32
// CHECK:         linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]], #[[ALL]]], {{.*}} ins(%[[A]], %[[B]] : tensor<2x3xi8>, tensor<1x3xi8>)
// CHECK:           %[[WIDE:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK-NEXT:      %[[CENTRED:.*]] = arith.subi %[[WIDE]], %[[ZERO_A]] : i32
// CHECK-NEXT:      arith.shli %[[CENTRED]], %[[SHIFT]] : i32
func.func @add(%a: tensor<2x3x!a>, %b: tensor<1x3x!b>) -> tensor<2x3x!a> {
  %0 = "qnn.add"(%a, %b) {clamp = array<f32>} : (tensor<2x3x!a>, tensor<1x3x!b>) -> tensor<2x3x!a>
  return %0 : tensor<2x3x!a>
}

// -----

!a = !quant.uniform<i8:f32, 5.0e-01:3>
!b = !quant.uniform<i8:f32, 2.5e-01:-7>

// XNNPACK multiplies each input by a factor and rounds the sum once, half up: one right shift.
module attributes {qnn.numerics = "xnnpack"} {
  // CHECK-LABEL: func.func @add_xnnpack
  // CHECK:         linalg.generic
  // CHECK:           arith.muli
  // CHECK:           arith.muli
  // CHECK:           arith.shrsi
  // CHECK-NOT:       arith.shrsi
  // CHECK:           linalg.yield
  func.func @add_xnnpack(%a: tensor<2x3x!a>, %b: tensor<1x3x!b>) -> tensor<2x3x!a> {
    %0 = "qnn.add"(%a, %b) {clamp = array<f32>} : (tensor<2x3x!a>, tensor<1x3x!b>) -> tensor<2x3x!a>
    return %0 : tensor<2x3x!a>
  }
}

// -----

!a = !quant.uniform<u8:f32, 5.0e-01:128>

// CHECK-LABEL: func.func @mul
// CHECK:         linalg.generic
// CHECK:           arith.extui %{{.*}} : i8 to i32
// CHECK:           arith.extui %{{.*}} : i8 to i32
// CHECK:           arith.muli %{{.*}} : i32
func.func @mul(%a: tensor<4x!a>, %b: tensor<4x!a>) -> tensor<4x!a> {
  %0 = "qnn.mul"(%a, %b) {clamp = array<f32>} : (tensor<4x!a>, tensor<4x!a>) -> tensor<4x!a>
  return %0 : tensor<4x!a>
}

// -----
// A true division; NaN becomes the zero point; limited before it becomes an integer.

!q = !quant.uniform<i8:f32, 0.1:5>

// CHECK-LABEL: func.func @quantize
// CHECK-DAG:     %[[LOW:.*]] = arith.constant -1.330000e+02 : f32
// CHECK:         linalg.generic
// CHECK:           %[[STEPS:.*]] = arith.divf
// CHECK-NEXT:      %[[NAN:.*]] = arith.cmpf uno, %[[STEPS]], %[[STEPS]] : f32
// CHECK-NEXT:      %[[NUMBER:.*]] = arith.select %[[NAN]]
// CHECK-NEXT:      %[[ROUND:.*]] = math.round %[[NUMBER]] : f32
// CHECK-NEXT:      arith.cmpf ogt, %[[ROUND]], %[[LOW]] : f32
// CHECK:           arith.fptosi
// CHECK-NEXT:      arith.addi
// CHECK-NEXT:      arith.trunci %{{.*}} : i32 to i8
func.func @quantize(%x: tensor<4xf32>) -> tensor<4x!q> {
  %0 = "qnn.quantize"(%x) : (tensor<4xf32>) -> tensor<4x!q>
  return %0 : tensor<4x!q>
}

// -----
// Scales of a per-axis type are read along its axis.

!q = !quant.uniform<u8:f32:0, {0.1:5, 0.2:5}>

// CHECK:       affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @dequantize_per_axis
// CHECK:         %[[SCALES:.*]] = arith.constant dense<{{.*}}1.000000e-01], [2.000000e-01{{.*}}> : tensor<2x1xf64>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[SCALES]]
// CHECK:           arith.truncf %{{.*}} : f64 to f32
func.func @dequantize_per_axis(%x: tensor<2x3x!q>) -> tensor<2x3xf32> {
  %0 = "qnn.dequantize"(%x) : (tensor<2x3x!q>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----
// A scale of one needs no multiplication: i8 becomes u8 by adding 128.

!s = !quant.uniform<i8:f32, 0.1:5>
!u = !quant.uniform<u8:f32, 0.1:133>

// CHECK-LABEL: func.func @requantize_exactly
// CHECK:         linalg.generic
// CHECK-NOT:       muli
// CHECK:           linalg.yield
func.func @requantize_exactly(%x: tensor<4x!s>) -> tensor<4x!u> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!s>) -> tensor<4x!u>
  return %0 : tensor<4x!u>
}

// -----
// Equal parameters: nothing to do.

!s = !quant.uniform<i8:f32, 0.1:5>

// CHECK-LABEL: func.func @keep_equal_parameters
// CHECK-SAME:    %[[X:.*]]: tensor<4xi8>
// CHECK-NEXT:    return %[[X]]
func.func @keep_equal_parameters(%x: tensor<4x!s>) -> tensor<4x!s> {
  %0 = "qnn.requantize"(%x) : (tensor<4x!s>) -> tensor<4x!s>
  return %0 : tensor<4x!s>
}

// -----
// relu6 between real bounds: 0 is 5, 6 is 65 in stored values, so 0 and 60 before the zero point is added.

!s = !quant.uniform<i8:f32, 0.1:5>

// CHECK-LABEL: func.func @clamp
// CHECK-DAG:     %[[LOW:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[HIGH:.*]] = arith.constant 60 : i32
// CHECK:           %[[RAISED:.*]] = arith.maxsi %{{.*}}, %[[LOW]] : i32
// CHECK-NEXT:      arith.minsi %[[RAISED]], %[[HIGH]] : i32
func.func @clamp(%x: tensor<4x!s>) -> tensor<4x!s> {
  %0 = "qnn.clamp"(%x) {clamp = array<f32: 0.0, 6.0>} : (tensor<4x!s>) -> tensor<4x!s>
  return %0 : tensor<4x!s>
}
