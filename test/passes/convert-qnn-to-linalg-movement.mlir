// Ops that move values, and the change of parameters that may come with them; resizes.
// RUN: qopt %s -p convert-qnn-to-linalg,canonicalize --split-input-file | %filecheck

!q = !quant.uniform<i8:f32, 0.5:3>

// Both shapes split into runs of equal size: [2, 3][4] and [6][2, 2].
// CHECK-LABEL: func.func @reshape
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x4xi8>
// CHECK-NEXT:    %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<2x3x4xi8> into tensor<6x4xi8>
// CHECK-NEXT:    %[[Y:.*]] = tensor.expand_shape %[[FLAT]] {{\[\[}}0], [1, 2]] output_shape [6, 2, 2]
// CHECK-NEXT:    return %[[Y]]
func.func @reshape(%x: tensor<2x3x4x!q>) -> tensor<6x2x2x!q> {
  %0 = "qnn.reshape"(%x) : (tensor<2x3x4x!q>) -> tensor<6x2x2x!q>
  return %0 : tensor<6x2x2x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:3>

// CHECK:       affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-LABEL: func.func @transpose
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT:      linalg.yield %[[IN]] : i8
func.func @transpose(%x: tensor<2x3x4x!q>) -> tensor<4x2x3x!q> {
  %0 = "qnn.transpose"(%x) {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4x!q>) -> tensor<4x2x3x!q>
  return %0 : tensor<4x2x3x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:3>
!r = !quant.uniform<i8:f32, 1.0:-4>

// The result's parameters differ: moved first, then requantized.
// CHECK-LABEL: func.func @slice
// CHECK:         %[[PART:.*]] = tensor.extract_slice %{{.*}}[1, 0] [1, 2] [1, 2] : tensor<2x4xi8> to tensor<1x2xi8>
// CHECK:         linalg.generic {{.*}} ins(%[[PART]]
func.func @slice(%x: tensor<2x4x!q>) -> tensor<1x2x!r> {
  %0 = "qnn.slice"(%x) {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 2>, strides = array<i64: 1, 2>} : (tensor<2x4x!q>) -> tensor<1x2x!r>
  return %0 : tensor<1x2x!r>
}

// -----

!q = !quant.uniform<u8:f32, 0.5:200>

// The real 0 is the zero point: 200 in u8, -56 as signless bits.
// CHECK-LABEL: func.func @pad
// CHECK-DAG:     %[[FILL:.*]] = arith.constant -56 : i8
// CHECK:         tensor.pad %{{.*}} low[1] high[2]
// CHECK:           tensor.yield %[[FILL]] : i8
func.func @pad(%x: tensor<4x!q>) -> tensor<7x!q> {
  %0 = "qnn.pad"(%x) {low = array<i64: 1>, high = array<i64: 2>, value = 0.0 : f32} : (tensor<4x!q>) -> tensor<7x!q>
  return %0 : tensor<7x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:3>
!r = !quant.uniform<i8:f32, 1.0:-4>

// The input of other parameters is requantized before.
// CHECK-LABEL: func.func @concat
// CHECK-SAME:    %[[X:.*]]: tensor<2xi8>, %[[Y:.*]]: tensor<3xi8>
// CHECK:         %[[Z:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<3xi8>)
// CHECK:         tensor.concat dim(0) %[[X]], %[[Z]] : (tensor<2xi8>, tensor<3xi8>) -> tensor<5xi8>
func.func @concat(%x: tensor<2x!q>, %y: tensor<3x!r>) -> tensor<5x!q> {
  %0 = "qnn.concat"(%x, %y) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<2x!q>, tensor<3x!r>) -> tensor<5x!q>
  return %0 : tensor<5x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:3>

// Source rows and columns are tables.
// CHECK-LABEL: func.func @resize_nearest
// CHECK-SAME:    %[[X:.*]]: tensor<1x2x2x3xi8>
// CHECK:         %[[TABLE:.*]] = arith.constant dense<[0, 0, 1, 1]> : tensor<4xi32>
// CHECK:         linalg.generic {{.*}} ins(%[[TABLE]]
// CHECK:           %[[C:.*]] = linalg.index 3 : index
// CHECK:           tensor.extract %[[X]][%{{.*}}, %{{.*}}, %{{.*}}, %[[C]]] : tensor<1x2x2x3xi8>
func.func @resize_nearest(%x: tensor<1x2x2x3x!q>) -> tensor<1x4x4x3x!q> {
  %0 = "qnn.resize_nearest"(%x) {align_corners = false, half_pixel_centers = false} : (tensor<1x2x2x3x!q>) -> tensor<1x4x4x3x!q>
  return %0 : tensor<1x4x4x3x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:3>

// Four neighbours, weights in 1024ths, rounded half away from zero.
// CHECK-LABEL: func.func @resize_bilinear
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1024 : i32
// CHECK-DAG:     %[[DIVISOR:.*]] = arith.constant 1048576 : i32
// CHECK:         linalg.generic
// CHECK-COUNT-4:   tensor.extract
// CHECK:           arith.divsi %{{.*}}, %[[DIVISOR]] : i32
func.func @resize_bilinear(%x: tensor<1x2x2x3x!q>) -> tensor<1x4x4x3x!q> {
  %0 = "qnn.resize_bilinear"(%x) {align_corners = false, half_pixel_centers = true} : (tensor<1x2x2x3x!q>) -> tensor<1x4x4x3x!q>
  return %0 : tensor<1x4x4x3x!q>
}
