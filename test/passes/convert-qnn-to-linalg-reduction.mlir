// Pools, mean, arg_max and the activations.
// RUN: qopt %s -p convert-qnn-to-linalg,canonicalize --split-input-file | %filecheck

!q = !quant.uniform<u8:f32, 0.5:3>

// Unsigned values compare unsigned; the border is the smallest one. Channels are the innermost loop.
// CHECK-LABEL: func.func @max_pool2d
// CHECK-DAG:     %[[LOWEST:.*]] = arith.constant 0 : i8
// CHECK:         tensor.pad
// CHECK:           tensor.yield %[[LOWEST]] : i8
// CHECK:         linalg.fill ins(%[[LOWEST]] : i8)
// CHECK:         linalg.generic {{.*}}"reduction", "reduction", "parallel"]{{.*}} outs(%{{.*}} : tensor<1x2x2x8xi8>)
// CHECK:           arith.maxui %{{.*}} : i8
func.func @max_pool2d(%x: tensor<1x4x4x8x!q>) -> tensor<1x2x2x8x!q> {
  %0 = "qnn.max_pool2d"(%x) {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 0, 1, 0, 1>, clamp = array<f32>} : (tensor<1x4x4x8x!q>) -> tensor<1x2x2x8x!q>
  return %0 : tensor<1x2x2x8x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:3>

// Taps outside the input do not count.
// CHECK-LABEL: func.func @avg_pool2d
// CHECK:         %[[COUNTS:.*]] = arith.constant dense<{{.*}}9], [6]], {{\[\[}}6], [4{{.*}}> : tensor<1x2x2x1xi32>
// CHECK:         %[[SUM:.*]] = linalg.generic
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]], %[[COUNTS]]
// CHECK:           arith.divsi
func.func @avg_pool2d(%x: tensor<1x4x4x8x!q>) -> tensor<1x2x2x8x!q> {
  %0 = "qnn.avg_pool2d"(%x) {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 0, 1, 0, 1>, clamp = array<f32>} : (tensor<1x4x4x8x!q>) -> tensor<1x2x2x8x!q>
  return %0 : tensor<1x2x2x8x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:3>

// Summed in i32; the zero point is subtracted once, 6 times 3, and the division by 6 is inside the multiplier.
// CHECK-LABEL: func.func @mean
// CHECK-DAG:     %[[ZERO_POINTS:.*]] = arith.constant 18 : i32
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}}["parallel", "reduction", "reduction", "parallel"]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<1x4xi32>)
// CHECK:           arith.subi %{{.*}}, %[[ZERO_POINTS]] : i32
func.func @mean(%x: tensor<1x2x3x4x!q>) -> tensor<1x4x!q> {
  %0 = "qnn.mean"(%x) {axes = array<i64: 1, 2>, keep_dims = false} : (tensor<1x2x3x4x!q>) -> tensor<1x4x!q>
  return %0 : tensor<1x4x!q>
}

// -----

!q = !quant.uniform<i8:f32, 0.5:3>

// Along the last axis a value and its place, which counts backwards, are one number.
// CHECK-LABEL: func.func @arg_max
// CHECK:         %[[KEYS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xi64>)
// CHECK:           arith.extsi
// CHECK:           linalg.index 1
// CHECK:           arith.shli
// CHECK:           arith.maxsi
// CHECK:         linalg.generic {{.*}} ins(%[[KEYS]] : tensor<2xi64>)
// CHECK:           arith.trunci
func.func @arg_max(%x: tensor<2x5x!q>) -> tensor<2xi32> {
  %0 = "qnn.arg_max"(%x) {axis = 1 : i64} : (tensor<2x5x!q>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// Along another one strictly greater: the first of equal values wins.
// CHECK-LABEL: func.func @arg_max_of_rows
// CHECK:         %[[BOTH:.*]]:2 = linalg.generic
// CHECK:           arith.cmpi sgt
// CHECK:           linalg.index 0
// CHECK:         return %[[BOTH]]#1 : tensor<5xi32>
func.func @arg_max_of_rows(%x: tensor<2x5x!q>) -> tensor<5xi32> {
  %0 = "qnn.arg_max"(%x) {axis = 0 : i64} : (tensor<2x5x!q>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
}

// -----

!q = !quant.uniform<i8:f32, 0.05:3>
!r = !quant.uniform<i8:f32, 0.00390625:-128>

// CHECK-LABEL: func.func @logistic
// CHECK:         %[[TABLE:.*]] = arith.constant dense_resource<{{.*}}> : tensor<256xi8>
// CHECK:         linalg.generic
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT:      %[[INDEX:.*]] = arith.index_castui %[[IN]] : i8 to index
// CHECK-NEXT:      %[[Y:.*]] = tensor.extract %[[TABLE]][%[[INDEX]]] : tensor<256xi8>
// CHECK-NEXT:      linalg.yield %[[Y]] : i8
func.func @logistic(%x: tensor<2x5x!q>) -> tensor<2x5x!r> {
  %0 = "qnn.logistic"(%x) : (tensor<2x5x!q>) -> tensor<2x5x!r>
  return %0 : tensor<2x5x!r>
}

// -----

!q = !quant.uniform<i8:f32, 0.05:3>
!r = !quant.uniform<i8:f32, 0.00390625:-128>

// The largest value of a row, exponentials by a table, their sum, one reciprocal per row, the quotients.
// CHECK-LABEL: func.func @softmax
// CHECK-DAG:     %[[TABLE:.*]] = arith.constant dense_resource<{{.*}}> : tensor<256xi32>
// CHECK:         %[[LARGEST:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2xi8>)
// CHECK:         arith.maxsi
// CHECK:         %[[EXPS:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[LARGEST]] : tensor<2x5xi8>, tensor<2xi8>)
// CHECK:           tensor.extract %[[TABLE]]
// CHECK:         linalg.generic {{.*}} ins(%[[EXPS]] : tensor<2x5xi32>) outs(%{{.*}} : tensor<2xi32>)
// CHECK:         math.ctlz
// CHECK:         linalg.generic {{.*}} ins(%[[EXPS]], %{{.*}}, %{{.*}} : tensor<2x5xi32>, tensor<2xi32>, tensor<2xi32>) outs(%{{.*}} : tensor<2x5xi8>)
func.func @softmax(%x: tensor<2x5x!q>) -> tensor<2x5x!r> {
  %0 = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<2x5x!q>) -> tensor<2x5x!r>
  return %0 : tensor<2x5x!r>
}

// -----

// CHECK-LABEL: func.func @tanh_float
// CHECK:         math.tanh %{{.*}} : f32
func.func @tanh_float(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "qnn.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
