// RUN: qopt %s -p 'verify-params{target=%S/Inputs/engine.toml}' --split-input-file --verify-diagnostics

!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

func.func @same_as_input(%x: tensor<2x8x!a>) -> tensor<16x!b> {
  // expected-error-re@+1 {{'qnn.reshape' op breaks rule 'same-as-input' of target 'engine' ({{.*}}engine.toml:12): result has i8 scale 0.25 zero point -5, expected i8 scale 0.5 zero point 3 (its input's); requantize its result, as legalize-params}}
  %r = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<16x!b>
  return %r : tensor<16x!b>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!b = !quant.uniform<i8:f32, 0.25:-5>

func.func @same_as_result(%x: tensor<4x!a>, %y: tensor<4x!b>) -> tensor<8x!a> {
  // expected-error-re@+1 {{'qnn.concat' op breaks rule 'same-as-result' of target 'engine' ({{.*}}): operand 1 has i8 scale 0.25 zero point -5, expected i8 scale 0.5 zero point 3 (the result's); requantize operand 1}}
  %r = "qnn.concat"(%x, %y) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>} : (tensor<4x!a>, tensor<4x!b>) -> tensor<8x!a>
  return %r : tensor<8x!a>
}

// -----
!a = !quant.uniform<i8:f32, 0.5:3>
!u = !quant.uniform<u8:f32, 0.5:131>

// Equal reals, but the storage type differs.
func.func @storage(%x: tensor<2x8x!a>) -> tensor<16x!u> {
  // expected-error@+1 {{result has u8 scale 0.5 zero point 131, expected i8 scale 0.5 zero point 3}}
  %r = "qnn.reshape"(%x) : (tensor<2x8x!a>) -> tensor<16x!u>
  return %r : tensor<16x!u>
}

// -----
!a = !quant.uniform<i8:f32, 0.1:3>
!s = !quant.uniform<i8:f32, 0.00392:-128>

func.func @fixed(%x: tensor<2x8x!a>) -> tensor<2x8x!s> {
  // expected-error@+1 {{breaks rule 'fixed(1/256, -128, 0.001)' of target 'engine'}}
  %r = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<2x8x!a>) -> tensor<2x8x!s>
  return %r : tensor<2x8x!s>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>
!w = !quant.uniform<i8:f32, 0.25>
!acc = !quant.uniform<i32:f32, 0.01>

func.func @derived(%x: tensor<2x8x!a>, %w: tensor<4x8x!w>) -> tensor<2x4x!acc> {
  // expected-error@+1 {{expected i32 scale 0.125 zero point 0 (input scale x filter scale)}}
  %r = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8x!a>, tensor<4x8x!w>) -> tensor<2x4x!acc>
  return %r : tensor<2x4x!acc>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>

func.func @unsupported(%x: tensor<4x!a>) -> tensor<4x!a> {
  // expected-error-re@+1 {{'qnn.sub' op breaks rule 'unsupported' of target 'engine' ({{.*}}): result has i8 scale 0.5 zero point 0, expected float between dequantize and quantize; run isolate-unsupported}}
  %r = "qnn.sub"(%x, %x) {clamp = array<f32>} : (tensor<4x!a>, tensor<4x!a>) -> tensor<4x!a>
  return %r : tensor<4x!a>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>
!i = !quant.uniform<i16:f32, 0.5>

// A storage type that the rule does not list.
func.func @unsupported_storage(%x: tensor<2x8x!i>) -> tensor<2x8x!i> {
  // expected-error@+1 {{'qnn.softmax' op breaks rule 'unsupported'}}
  %r = "qnn.softmax"(%x) {beta = 1.0 : f32, axis = 1 : i64} : (tensor<2x8x!i>) -> tensor<2x8x!i>
  return %r : tensor<2x8x!i>
}
