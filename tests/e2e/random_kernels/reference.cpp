// Implements the operators of reference.h as plain loops over doubles.
#include "tests/e2e/random_kernels/reference.h"

#include <algorithm>
#include <cmath>

namespace gantry::test {

namespace {

/// Calls f for each index of a tensor of these dims, in row-major order.
void forEach(const std::vector<int64_t> &dims,
             const std::function<void(const std::vector<int64_t> &)> &f) {
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t dim : dims)
    if (dim == 0)
      return;
  for (;;) {
    f(index);
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

/// Returns the row-major position of an index.
size_t linear(const std::vector<int64_t> &dims, const std::vector<int64_t> &index) {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    at = at * dims[d] + index[d];
  return static_cast<size_t>(at);
}

/// Returns the element of x that an index into a broadcast shape refers to.
double broadcastAt(const Tensor &x, const std::vector<int64_t> &index) {
  int64_t at = 0;
  const size_t skip = index.size() - x.dims.size();
  for (size_t d = 0; d < x.dims.size(); ++d)
    at = at * x.dims[d] + (x.dims[d] == 1 ? 0 : index[skip + d]);
  return x.values[static_cast<size_t>(at)];
}

} // namespace

Tensor convolution(const Tensor &x, const Tensor &filter, const Convolution &how,
                   const std::vector<size_t> &samples) {
  const size_t spatial = x.dims.size() - 2;
  const int64_t perGroup = filter.dims[1], outPerGroup = filter.dims[0] / how.groups;
  std::vector<int64_t> dims{x.dims[0], filter.dims[0]};
  std::vector<int64_t> kernel(filter.dims.begin() + 2, filter.dims.end());
  for (size_t i = 0; i < spatial; ++i)
    dims.push_back(
        (x.dims[2 + i] + how.padLow[i] + how.padHigh[i] - (kernel[i] - 1) * how.dilations[i] - 1) /
            how.strides[i] +
        1);
  auto elementAt = [&](const std::vector<int64_t> &out) {
    double sum = 0;
    forEach(kernel, [&](const std::vector<int64_t> &tap) {
      std::vector<int64_t> from{out[0], 0}, weight{out[1], 0};
      for (size_t i = 0; i < spatial; ++i) {
        const int64_t at = out[2 + i] * how.strides[i] + tap[i] * how.dilations[i] - how.padLow[i];
        if (at < 0 || at >= x.dims[2 + i])
          return;
        from.push_back(at);
        weight.push_back(tap[i]);
      }
      for (int64_t c = 0; c < perGroup; ++c) {
        from[1] = out[1] / outPerGroup * perGroup + c;
        weight[1] = c;
        sum += x.values[linear(x.dims, from)] * filter.values[linear(filter.dims, weight)];
      }
    });
    return sum;
  };
  if (samples.empty()) {
    Tensor y(Type::kF32, dims);
    size_t next = 0;
    forEach(dims, [&](const std::vector<int64_t> &out) { y.values[next++] = elementAt(out); });
    return y;
  }
  Tensor y(Type::kF32, {static_cast<int64_t>(samples.size())});
  for (size_t i = 0; i < samples.size(); ++i) {
    std::vector<int64_t> index(dims.size());
    auto rest = static_cast<int64_t>(samples[i]);
    for (size_t d = dims.size(); d-- > 0; rest /= dims[d])
      index[d] = rest % dims[d];
    y.values[i] = elementAt(index);
  }
  return y;
}

Tensor transposedConvolution(const Tensor &x, const Tensor &filter, const Convolution &how,
                             const std::vector<int64_t> &outputPadding) {
  const size_t spatial = x.dims.size() - 2;
  const int64_t perGroup = x.dims[1] / how.groups, outPerGroup = filter.dims[1];
  std::vector<int64_t> dims{x.dims[0], outPerGroup * how.groups};
  for (size_t i = 0; i < spatial; ++i)
    dims.push_back((x.dims[2 + i] - 1) * how.strides[i] +
                   (filter.dims[2 + i] - 1) * how.dilations[i] + 1 + outputPadding[i] -
                   how.padLow[i] - how.padHigh[i]);
  Tensor y(Type::kF32, dims);
  std::vector<int64_t> taps(filter.dims.begin() + 1, filter.dims.end());
  forEach(x.dims, [&](const std::vector<int64_t> &from) {
    forEach(taps, [&](const std::vector<int64_t> &tap) {
      std::vector<int64_t> to{from[0], from[1] / perGroup * outPerGroup + tap[0]}, weight{from[1]};
      weight.insert(weight.end(), tap.begin(), tap.end());
      for (size_t i = 0; i < spatial; ++i) {
        to.push_back(from[2 + i] * how.strides[i] + tap[1 + i] * how.dilations[i] - how.padLow[i]);
        if (to.back() < 0 || to.back() >= dims[2 + i])
          return;
      }
      y.values[linear(dims, to)] +=
          x.values[linear(x.dims, from)] * filter.values[linear(filter.dims, weight)];
    });
  });
  return y;
}

Tensor matmul(const Tensor &a, const Tensor &b) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  auto dimOf = [&](const Tensor &t, size_t d) {
    const size_t skip = rank - t.dims.size();
    return d < skip ? 1 : t.dims[d - skip];
  };
  std::vector<int64_t> dims;
  for (size_t d = 0; d + 2 < rank; ++d)
    dims.push_back(dimOf(a, d) == 1 ? dimOf(b, d) : dimOf(a, d));
  dims.push_back(a.dims[a.dims.size() - 2]);
  dims.push_back(b.dims.back());
  Tensor y(Type::kF32, dims);
  size_t next = 0;
  forEach(dims, [&](const std::vector<int64_t> &out) {
    std::vector<int64_t> left = out, right = out;
    double sum = 0;
    for (int64_t k = 0; k < a.dims.back(); ++k) {
      left[rank - 1] = k;
      right[rank - 2] = k;
      sum += broadcastAt(a, left) * broadcastAt(b, right);
    }
    y.values[next++] = sum;
  });
  return y;
}

Tensor transposed(const Tensor &x, const std::vector<size_t> &permutation) {
  std::vector<int64_t> dims;
  for (size_t from : permutation)
    dims.push_back(x.dims[from]);
  Tensor y(x.type, dims);
  size_t next = 0;
  forEach(dims, [&](const std::vector<int64_t> &out) {
    std::vector<int64_t> from(out.size());
    for (size_t d = 0; d < out.size(); ++d)
      from[permutation[d]] = out[d];
    y.values[next++] = x.values[linear(x.dims, from)];
  });
  return y;
}

Tensor combined(const Tensor &a, const Tensor &b, const std::function<double(double, double)> &f) {
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  std::vector<int64_t> dims(rank, 1);
  for (const Tensor *t : {&a, &b})
    for (size_t d = 0; d < t->dims.size(); ++d)
      if (t->dims[d] != 1)
        dims[rank - t->dims.size() + d] = t->dims[d];
  Tensor y(a.type, dims);
  size_t next = 0;
  forEach(dims, [&](const std::vector<int64_t> &out) {
    y.values[next++] = f(broadcastAt(a, out), broadcastAt(b, out));
  });
  return y;
}

Tensor mapped(const Tensor &x, const std::function<double(double)> &f) {
  Tensor y = x;
  std::transform(x.values.begin(), x.values.end(), y.values.begin(), f);
  return y;
}

Tensor reduced(const Tensor &x, const std::vector<int64_t> &axes, double init,
               const std::function<double(double, double)> &f) {
  std::vector<int64_t> dims = x.dims;
  for (int64_t axis : axes)
    dims[static_cast<size_t>(axis)] = 1;
  Tensor y(x.type, dims);
  std::fill(y.values.begin(), y.values.end(), init);
  size_t next = 0;
  forEach(x.dims, [&](const std::vector<int64_t> &index) {
    std::vector<int64_t> to = index;
    for (int64_t axis : axes)
      to[static_cast<size_t>(axis)] = 0;
    double &total = y.values[linear(dims, to)];
    total = f(total, x.values[next++]);
  });
  return y;
}

Tensor softmax(const Tensor &x) {
  const std::vector<int64_t> last{static_cast<int64_t>(x.dims.size()) - 1};
  Tensor top = reduced(x, last, -INFINITY, [](double a, double b) { return std::max(a, b); });
  Tensor powers = combined(x, top, [](double a, double b) { return std::exp(a - b); });
  Tensor sum = reduced(powers, last, 0, [](double a, double b) { return a + b; });
  return combined(powers, sum, [](double a, double b) { return a / b; });
}

} // namespace gantry::test
