// Applies arith and math operations to whole tensors with one dynamic dimension.
func.func @main(%x: tensor<?x5xf32> {gantry.port = #gantry.port<name = "arg0", dims = [<"rows">, <"">]>},
                %bias: tensor<?x5xf32> {gantry.port = #gantry.port<name = "arg1", dims = [<"rows">, <"">]>}) -> tensor<?x5xf32> {
  %e = math.exp %x : tensor<?x5xf32>
  %sum = arith.addf %e, %bias : tensor<?x5xf32>
  %larger = arith.cmpf ogt, %x, %bias : tensor<?x5xf32>
  %chosen = arith.select %larger, %x, %sum : tensor<?x5xi1>, tensor<?x5xf32>
  return %chosen : tensor<?x5xf32>
}
