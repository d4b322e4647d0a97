// A change of scale and zero point, as a network states it. See the README.
!q1 = !quant.uniform<i8:f32, 0.5:3>
!q2 = !quant.uniform<i8:f32, 0.75:-5>

func.func @main(%x: tensor<16x!q1>) -> tensor<16x!q2> {
  %y = "qnn.requantize"(%x) : (tensor<16x!q1>) -> tensor<16x!q2>
  return %y : tensor<16x!q2>
}
