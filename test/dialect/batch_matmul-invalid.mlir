// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c0_attribute(%a: tensor<2x8x!q>, %b: tensor<8x4x!q>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C0) attribute 'transpose_rhs': got 1 : i64, expected true or false}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = 1 : i64} : (tensor<2x8x!q>, tensor<8x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c1_rank(%a: tensor<8x!q>, %b: tensor<8x4x!q>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C1) lhs rank: got 1, expected at least 2}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<8x!q>, tensor<8x4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c2_depth(%a: tensor<2x8x!q>, %b: tensor<7x4x!q>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C2) lhs has 8 columns, rhs 7 rows}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<2x8x!q>, tensor<7x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c2_batches(%a: tensor<2x2x8x!q>, %b: tensor<3x8x4x!q>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C2) shapes [2] and [3] do not broadcast: 2 against 3}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<2x2x8x!q>, tensor<3x8x4x!q>) -> tensor<2x2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c2_result(%a: tensor<2x8x!q>, %b: tensor<8x4x!q>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C2) result shape: got [4, 2], expected [2, 4]}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<2x8x!q>, tensor<8x4x!q>) -> tensor<4x2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c3_family(%a: tensor<2x8x!q>, %b: tensor<8x4xf32>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C3) lhs, rhs and result must be all f32 or all quantized, got lhs quantized i8, rhs f32, result quantized i8}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<2x8x!q>, tensor<8x4xf32>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c3_per_channel(%a: tensor<2x2x!q>, %b: tensor<2x4x!c>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C3) rhs must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<2x2x!q>, tensor<2x4x!c>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c3_storage(%a: tensor<2x8x!b>, %b: tensor<8x4x!q>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C3) lhs: got storage type i32, expected i8, u8 or i16}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<2x8x!b>, tensor<8x4x!q>) -> tensor<2x4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!w = !quant.uniform<i8:f32, 2.500000e-01>
!b = !quant.uniform<i32:f32, 1.250000e-01>
!h = !quant.uniform<i16:f32, 2.500000e-01>
!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>
!z = !quant.uniform<i8:f32:1, {2.500000e-01,5.000000e-01}>

func.func @batch_matmul_c3_widths(%a: tensor<2x8x!q>, %b: tensor<8x4x!h>) {
  // expected-error@+1 {{'qnn.batch_matmul' op (C3) rhs is stored in i16, expected no more bits than lhs has, i8}}
  %result = "qnn.batch_matmul"(%a, %b) {transpose_lhs = false, transpose_rhs = false} : (tensor<2x8x!q>, tensor<8x4x!h>) -> tensor<2x4x!q>
  return
}
