// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @dynamic_update_slice_c1_index_type(%x: tensor<8x3x!q>, %u: tensor<2x3x!q>, %b: tensor<2xf32>) {
  // expected-error@+1 {{'qnn.dynamic_update_slice' op (C1) begin element type: got f32, expected i16, i32 or i64}}
  %result = "qnn.dynamic_update_slice"(%x, %u, %b) : (tensor<8x3x!q>, tensor<2x3x!q>, tensor<2xf32>) -> tensor<8x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @dynamic_update_slice_c1_count(%x: tensor<8x3x!q>, %u: tensor<2x3x!q>, %b: tensor<3xi32>) {
  // expected-error@+1 {{'qnn.dynamic_update_slice' op (C1) begin shape: got [3], expected [2]}}
  %result = "qnn.dynamic_update_slice"(%x, %u, %b) : (tensor<8x3x!q>, tensor<2x3x!q>, tensor<3xi32>) -> tensor<8x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @dynamic_update_slice_c2_too_large(%x: tensor<8x3x!q>, %u: tensor<2x4x!q>, %b: tensor<2xi32>) {
  // expected-error@+1 {{'qnn.dynamic_update_slice' op (C2) update shape: got [2, 4], which does not fit into [8, 3]}}
  %result = "qnn.dynamic_update_slice"(%x, %u, %b) : (tensor<8x3x!q>, tensor<2x4x!q>, tensor<2xi32>) -> tensor<8x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @dynamic_update_slice_c2_result(%x: tensor<8x3x!q>, %u: tensor<2x3x!q>, %b: tensor<2xi32>) {
  // expected-error@+1 {{'qnn.dynamic_update_slice' op (C2) result shape: got [7, 3], expected [8, 3]}}
  %result = "qnn.dynamic_update_slice"(%x, %u, %b) : (tensor<8x3x!q>, tensor<2x3x!q>, tensor<2xi32>) -> tensor<7x3x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @dynamic_update_slice_c3_mixed(%x: tensor<8x3x!q>, %u: tensor<2x3xf32>, %b: tensor<2xi32>) {
  // expected-error@+1 {{'qnn.dynamic_update_slice' op (C3) input, update and result must be all quantized or have the same element type, got input quantized i8, update f32, result quantized i8}}
  %result = "qnn.dynamic_update_slice"(%x, %u, %b) : (tensor<8x3x!q>, tensor<2x3xf32>, tensor<2xi32>) -> tensor<8x3x!q>
  return
}
