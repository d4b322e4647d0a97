// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_c0_operands(%x: tensor<2x4x!q>, %y: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.reduce' op (C0) got 2 operands, expected 1}}
  %result = "qnn.reduce"(%x, %y) {axes = array<i64: 1>, function = "sum", keep_dims = false} : (tensor<2x4x!q>, tensor<4x!q>) -> tensor<2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_c1_function(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.reduce' op (C1) function: got 'max', expected all, any, prod or sum}}
  %result = "qnn.reduce"(%x) {axes = array<i64: 1>, function = "max", keep_dims = false} : (tensor<2x4x!q>) -> tensor<2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_c2_axis(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.reduce' op (C2) axes: got 2, expected a dimension of a tensor of rank 2}}
  %result = "qnn.reduce"(%x) {axes = array<i64: 2>, function = "sum", keep_dims = false} : (tensor<2x4x!q>) -> tensor<2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_c2_repeated(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.reduce' op (C2) axes: got [1, 1], expected different ones}}
  %result = "qnn.reduce"(%x) {axes = array<i64: 1, 1>, function = "sum", keep_dims = false} : (tensor<2x4x!q>) -> tensor<2x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_c3_shape(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.reduce' op (C3) result shape: got [4], expected [2]}}
  %result = "qnn.reduce"(%x) {axes = array<i64: 1>, function = "sum", keep_dims = false} : (tensor<2x4x!q>) -> tensor<4x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reduce_c4_mixed(%x: tensor<2x4x!q>) {
  // expected-error@+1 {{'qnn.reduce' op (C4) input and result must be all f32 or all quantized, got input quantized i8, result f32}}
  %result = "qnn.reduce"(%x) {axes = array<i64: 1>, function = "sum", keep_dims = false} : (tensor<2x4x!q>) -> tensor<2xf32>
  return
}

// -----

func.func @reduce_c4_integers(%x: tensor<2x4xi32>) {
  // expected-error@+1 {{'qnn.reduce' op (C4) input and result: got input i32, result i64, expected one of i8, i16, i32, i64 for all}}
  %result = "qnn.reduce"(%x) {axes = array<i64: 1>, function = "sum", keep_dims = false} : (tensor<2x4xi32>) -> tensor<2xi64>
  return
}

// -----

func.func @reduce_c4_any(%x: tensor<2x4xi32>) {
  // expected-error@+1 {{'qnn.reduce' op (C4) input and result: got input i32, result i32, expected one of i1 for all}}
  %result = "qnn.reduce"(%x) {axes = array<i64: 1>, function = "any", keep_dims = false} : (tensor<2x4xi32>) -> tensor<2xi32>
  return
}
