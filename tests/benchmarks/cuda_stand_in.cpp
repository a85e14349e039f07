// A stand-in for libcuda and libcublas: it implements the functions that kernel_bench
// (benchmarks/kernels) calls, on the host. It lets on_gpu_test.py test that kernel_bench opens the
// libraries, calls them correctly and passes the matmul's operands in the right order and
// orientation.
//
// The stand-in has one device. The environment variable STAND_IN_UUID sets its UUID (32 hexadecimal
// digits). Addresses of device memory are host pointers.
#include "benchmarks/kernels/halves.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

using gantry::bench::floatOf;
using gantry::bench::halfOf;
using Address = unsigned long long;
using Clock = std::chrono::steady_clock;

namespace {

void *pointerOf(Address address) { return reinterpret_cast<void *>(address); }

float load(Address matrix, bool half, size_t index) {
  if (half)
    return floatOf(static_cast<const uint16_t *>(pointerOf(matrix))[index]);
  return static_cast<const float *>(pointerOf(matrix))[index];
}

/// Stores one element. halfOf truncates to f16, which is within kernel_bench's tolerance.
void store(Address matrix, bool half, size_t index, float value) {
  if (half)
    static_cast<uint16_t *>(pointerOf(matrix))[index] = halfOf(value);
  else
    static_cast<float *>(pointerOf(matrix))[index] = value;
}

} // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int *device, int) {
  *device = 7;
  return 0;
}
int cuDeviceGetUuid(uint8_t *uuid, int) {
  const char *text = std::getenv("STAND_IN_UUID");
  for (size_t i = 0; text && i < 16; ++i)
    uuid[i] = static_cast<uint8_t>(std::stoul(std::string(text + 2 * i, 2), nullptr, 16));
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = context;
  return device == 7 ? 0 : 101;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void *context) { return context ? 0 : 201; }
int cuMemAlloc_v2(Address *address, size_t bytes) {
  *address = reinterpret_cast<Address>(std::malloc(bytes));
  return 0;
}
int cuMemFree_v2(Address address) {
  std::free(pointerOf(address));
  return 0;
}
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
  std::memcpy(pointerOf(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
  std::memcpy(to, pointerOf(from), bytes);
  return 0;
}
int cuEventCreate(void **event, unsigned) {
  *event = new Clock::time_point;
  return 0;
}
int cuEventDestroy_v2(void *event) {
  delete static_cast<Clock::time_point *>(event);
  return 0;
}
int cuEventRecord(void *event, void *) {
  *static_cast<Clock::time_point *>(event) = Clock::now();
  return 0;
}
int cuEventSynchronize(void *) { return 0; }
int cuEventElapsedTime(float *ms, void *begin, void *end) {
  *ms = std::chrono::duration<float, std::milli>(*static_cast<Clock::time_point *>(end) -
                                                 *static_cast<Clock::time_point *>(begin))
            .count();
  return 0;
}

int cublasCreate_v2(void **handle) {
  *handle = handle;
  return 0;
}
int cublasDestroy_v2(void *) { return 0; }

/// Column-major matmul c = alpha * a * b (beta is taken as 0), untransposed. Element types: 0
/// (CUDA_R_32F) and 2 (CUDA_R_16F). `compute` must be 68 (CUBLAS_COMPUTE_32F: sums in f32).
int cublasGemmEx(void *, int transA, int transB, int m, int n, int k, const void *alpha, Address a,
                 int typeA, int strideA, Address b, int typeB, int strideB, const void *, Address c,
                 int typeC, int strideC, int compute, int) {
  if (transA || transB || typeA != typeB || typeA != typeC || (typeA && typeA != 2) ||
      compute != 68)
    return 7; // CUBLAS_STATUS_INVALID_VALUE
  const bool half = typeA == 2;
  const float factor = *static_cast<const float *>(alpha);
  for (int column = 0; column < n; ++column)
    for (int row = 0; row < m; ++row) {
      float sum = 0;
      for (int i = 0; i < k; ++i)
        sum +=
            load(a, half, size_t(i) * strideA + row) * load(b, half, size_t(column) * strideB + i);
      store(c, half, size_t(column) * strideC + row, factor * sum);
    }
  return 0;
}

} // extern "C"
