// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @compare_c0_operands(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.compare' op (C0) got 1 operands, expected 2}}
  %result = "qnn.compare"(%x) {predicate = "less"} : (tensor<4x!q>) -> tensor<4xi1>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @compare_c1_predicate(%x: tensor<4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.compare' op (C1) predicate: got 'lt', expected equal}}
  %result = "qnn.compare"(%x, %y) {predicate = "lt"} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4xi1>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @compare_c2_mixed(%x: tensor<4x!q>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'qnn.compare' op (C2) lhs and rhs must be all f32 or all quantized, got lhs quantized i8, rhs f32}}
  %result = "qnn.compare"(%x, %y) {predicate = "less"} : (tensor<4x!q>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @compare_c2_integers(%x: tensor<4xi32>, %y: tensor<4xi64>) {
  // expected-error@+1 {{'qnn.compare' op (C2) lhs and rhs: got lhs i32, rhs i64, expected one of i8, i16, i32, i64, i1 for all}}
  %result = "qnn.compare"(%x, %y) {predicate = "less"} : (tensor<4xi32>, tensor<4xi64>) -> tensor<4xi1>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @compare_c3_result(%x: tensor<4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.compare' op (C3) result element type: got quantized i8, expected i1}}
  %result = "qnn.compare"(%x, %y) {predicate = "less"} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @compare_c4_shape(%x: tensor<4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.compare' op (C4) result shape: got [5], expected [4]}}
  %result = "qnn.compare"(%x, %y) {predicate = "less"} : (tensor<4x!q>, tensor<4x!q>) -> tensor<5xi1>
  return
}
