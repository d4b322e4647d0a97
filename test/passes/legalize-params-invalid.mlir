// What legalize-params leaves alone; verify-params then says so.
// RUN: qopt %s -p 'legalize-params{target=%S/Inputs/engine.toml},verify-params' --split-input-file --verify-diagnostics

!a = !quant.uniform<i8:f32, 0.5:3>

func.func @unsupported(%x: tensor<4x!a>) -> tensor<4x!a> {
  // expected-error@+1 {{'qnn.sub' op breaks rule 'unsupported'}}
  %r = "qnn.sub"(%x, %x) {clamp = array<f32>} : (tensor<4x!a>, tensor<4x!a>) -> tensor<4x!a>
  return %r : tensor<4x!a>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>
!w = !quant.uniform<i8:f32:0, {0.25, 0.5}>
!acc = !quant.uniform<i32:f32, 0.01>

func.func @accumulators_of_several_scales(%x: tensor<2x8x!a>, %w: tensor<2x8x!w>) -> tensor<2x2x!acc> {
  // expected-error@+1 {{result has i32 scale 0.01 zero point 0, expected input scale x filter scale, which no per-tensor type has; quantize the filter per-tensor}}
  %r = "qnn.fully_connected"(%x, %w) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x8x!a>, tensor<2x8x!w>) -> tensor<2x2x!acc>
  return %r : tensor<2x2x!acc>
}

// -----
!a = !quant.uniform<i8:f32, 0.5>
!b = !quant.uniform<i8:f32, 0.25>
!w = !quant.uniform<i8:f32, 0.5>
!bias = !quant.uniform<i32:f32, 0.25>

// The input cannot change, since a bias that is computed could not follow.
func.func @computed_bias(%x: tensor<2x8x!a>, %w: tensor<2x8x!w>, %bias: tensor<2x!bias>) -> tensor<2x2x!b> {
  // expected-error@+1 {{operand 0 has i8 scale 0.5 zero point 0, expected i8 scale 0.25 zero point 0 (the result's)}}
  %r = "qnn.fully_connected"(%x, %w, %bias) {clamp = array<f32>, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x8x!a>, tensor<2x8x!w>, tensor<2x!bias>) -> tensor<2x2x!b>
  return %r : tensor<2x2x!b>
}
