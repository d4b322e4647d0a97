// RUN: qopt %s --split-input-file --verify-diagnostics

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reshape_c0_result_count(%x: tensor<2x6x!q>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) got 0 results, expected 1}}
  "qnn.reshape"(%x) : (tensor<2x6x!q>) -> ()
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reshape_c0_unranked(%x: tensor<*x!q>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0 must be a ranked tensor, got tensor<*x!quant.uniform<i8:f32, 5.000000e-01:3>>}}
  %result = "qnn.reshape"(%x) : (tensor<*x!q>) -> tensor<3x4x!q>
  return
}

// -----

func.func @reshape_c0_scalar(%x: f32) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0 must be a ranked tensor, got f32}}
  %result = "qnn.reshape"(%x) : (f32) -> tensor<1xf32>
  return
}

// -----

!a = !quant.any<i8:f32>

func.func @reshape_c0_no_scale(%x: tensor<4x!a>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0: !quant.any<i8:f32> is not a uniform quantized type}}
  %result = "qnn.reshape"(%x) : (tensor<4x!a>) -> tensor<4x!a>
  return
}

// -----

!d = !quant.uniform<i8:f64, 5.000000e-01>

func.func @reshape_c0_expressed_type(%x: tensor<4x!d>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0: expressed type: got f64, expected f32}}
  %result = "qnn.reshape"(%x) : (tensor<4x!d>) -> tensor<4x!d>
  return
}

// -----

func.func @reshape_c0_element_type(%x: tensor<4xbf16>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0: element type bf16 is not supported}}
  %result = "qnn.reshape"(%x) : (tensor<4xbf16>) -> tensor<2x2xbf16>
  return
}

// -----

!i1q = !quant.uniform<i1:f32, 5.000000e-01>

func.func @reshape_c0_storage_type(%x: tensor<4x!i1q>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0: got storage type i1, expected one of i4, u4, i8, u8, i16, u16, i32}}
  %result = "qnn.reshape"(%x) : (tensor<4x!i1q>) -> tensor<4x!i1q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!o = !quant.uniform<i8<-5:5>:f32, 5.000000e-01:100>

func.func @reshape_c0_zero_point(%x: tensor<4x!q>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) result 0: zero point 100 lies outside the storage range [-5, 5]}}
  %result = "qnn.reshape"(%x) : (tensor<4x!q>) -> tensor<4x!o>
  return
}

// -----

!c3 = !quant.uniform<i8:f32:3, {2.500000e-01,5.000000e-01}>

func.func @reshape_c0_axis(%x: tensor<2x!c3>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0: per-axis dimension 3 does not exist in a tensor of rank 1}}
  %result = "qnn.reshape"(%x) : (tensor<2x!c3>) -> tensor<2x!c3>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

func.func @reshape_c0_scale_count(%x: tensor<3x!c>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0: per-axis scales: got 2, expected 3 (the extent of dimension 0)}}
  %result = "qnn.reshape"(%x) : (tensor<3x!c>) -> tensor<3x!c>
  return
}

// -----

!sub3 = !quant.uniform<i8:f32:{0:3}, {{5.000000e-01}}>

func.func @reshape_c0_block_size(%x: tensor<4x!sub3>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0: extent 4 of dimension 0 does not divide into blocks of 3}}
  %result = "qnn.reshape"(%x) : (tensor<4x!sub3>) -> tensor<4x!sub3>
  return
}

// -----

!sub4 = !quant.uniform<i8:f32:{0:2}, {{5.000000e-01}}>

func.func @reshape_c0_block_count(%x: tensor<4x!sub4>) {
  // expected-error@+1 {{'qnn.reshape' op (C0) operand 0: sub-channel scales: got 1, expected 2 (one per block)}}
  %result = "qnn.reshape"(%x) : (tensor<4x!sub4>) -> tensor<4x!sub4>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reshape_c1_elements(%x: tensor<2x6x!q>) {
  // expected-error@+1 {{'qnn.reshape' op (C1) elements: got 15 in shape [3, 5], expected 12 as in [2, 6]}}
  %result = "qnn.reshape"(%x) : (tensor<2x6x!q>) -> tensor<3x5x!q>
  return
}

// -----

!q = !quant.uniform<i8:f32, 5.000000e-01:3>

func.func @reshape_c2_mixed(%x: tensor<2x6x!q>) {
  // expected-error@+1 {{'qnn.reshape' op (C2) input and result must be all quantized or have the same element type, got input quantized i8, result f32}}
  %result = "qnn.reshape"(%x) : (tensor<2x6x!q>) -> tensor<12xf32>
  return
}

// -----

!c = !quant.uniform<i8:f32:0, {2.500000e-01,5.000000e-01}>

func.func @reshape_c2_per_axis(%x: tensor<2x6x!c>) {
  // expected-error@+1 {{'qnn.reshape' op (C2) input must be quantized per-tensor, got quantized i8 per-axis 0}}
  %result = "qnn.reshape"(%x) : (tensor<2x6x!c>) -> tensor<2x3x2x!c>
  return
}
