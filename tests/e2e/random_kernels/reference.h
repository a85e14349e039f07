// What the operators compute, as plain loops: the judge of the random kernels. Sums in double.
#pragma once

#include "tests/e2e/random_kernels/tensor.h"

#include <functional>

namespace gantry::test {

struct Convolution {
  std::vector<int64_t> strides, dilations, padLow, padHigh;
  int64_t groups = 1;
};

/// x [N, C, spatial...], filter [M, C / groups, kernel...]; terms beyond x's bounds are 0. With
/// `samples` a list of these elements of the result.
Tensor convolution(const Tensor &x, const Tensor &filter, const Convolution &how,
                   const std::vector<size_t> &samples);
/// NumPy's matmul of tensors of rank 2 or more.
Tensor product(const Tensor &a, const Tensor &b);
Tensor transposed(const Tensor &x, const std::vector<size_t> &permutation);
/// f over the elements, NumPy broadcasting.
Tensor combined(const Tensor &a, const Tensor &b, const std::function<double(double, double)> &f);
Tensor mapped(const Tensor &x, const std::function<double(double)> &f);
/// Folds the axes, kept with extent 1.
Tensor reduced(const Tensor &x, const std::vector<int64_t> &axes, double init,
               const std::function<double(double, double)> &f);
Tensor softmax(const Tensor &x); // over the last axis

} // namespace gantry::test
