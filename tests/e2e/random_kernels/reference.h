// Reference implementations of the operators as plain loops, which judge the random kernels.
//
// All arithmetic is in double.
#pragma once

#include "tests/e2e/random_kernels/tensor.h"

#include <functional>

namespace gantry::test {

struct Convolution {
  std::vector<int64_t> strides, dilations, padLow, padHigh;
  int64_t groups = 1;
};

/// Convolves x [N, C, spatial...] with filter [M, C / groups, kernel...]; terms outside of x are 0.
/// Where `samples` is not empty, returns a list of these elements of the result.
Tensor convolution(const Tensor &x, const Tensor &filter, const Convolution &how,
                   const std::vector<size_t> &samples);
/// NumPy's matmul of tensors of rank 2 or more.
Tensor product(const Tensor &a, const Tensor &b);
Tensor transposed(const Tensor &x, const std::vector<size_t> &permutation);
/// Applies f to the elements, with NumPy's broadcasting.
Tensor combined(const Tensor &a, const Tensor &b, const std::function<double(double, double)> &f);
Tensor mapped(const Tensor &x, const std::function<double(double)> &f);
/// Reduces the axes with f, starting from init; they stay with size 1.
Tensor reduced(const Tensor &x, const std::vector<int64_t> &axes, double init,
               const std::function<double(double, double)> &f);
/// The softmax over the last axis.
Tensor softmax(const Tensor &x);

} // namespace gantry::test
