// Implements cublas.h.
#include "benchmarks/kernels/cublas.h"

#include "benchmarks/kernels/halves.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>

namespace gantry::bench {

namespace {

// Values of CUDA's enumerators; CUDA's headers are not required.
constexpr int kNotTransposed = 0, kReal32 = 0, kReal16 = 2, kCompute32 = 68, kDefaultAlgorithm = -1;

using Handle = void *;
using Address = unsigned long long;

/// Opens the first of the named libraries that exists. The library is never closed, because
/// unloading a driver is not safe.
Handle openLibrary(std::span<const char *const> names) {
  std::string reasons;
  for (const char *name : names) {
    if (Handle library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return library;
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw Unavailable(reasons);
}

/// A function of a library. operator() calls it and throws GpuError if the call fails; status()
/// calls it and returns the call's status.
template <typename... Arguments> class Function {
public:
  Function(Handle library, const char *name)
      : name_(name), address_(reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name))) {
    if (!address_)
      throw Unavailable(std::string(name) + " is missing in the library");
  }
  int status(Arguments... arguments) const { return address_(arguments...); }
  void operator()(Arguments... arguments) const {
    if (const int result = address_(arguments...))
      throw GpuError(std::string(name_) + " failed with " + std::to_string(result));
  }

private:
  const char *name_;
  int (*address_)(Arguments...);
};

struct Driver {
  Handle library;
  Function<unsigned> init{library, "cuInit"};
  Function<int *> deviceCount{library, "cuDeviceGetCount"};
  Function<int *, int> device{library, "cuDeviceGet"};
  Function<uint8_t *, int> uuid{library, "cuDeviceGetUuid"};
  Function<Handle *, int> retain{library, "cuDevicePrimaryCtxRetain"};
  Function<int> release{library, "cuDevicePrimaryCtxRelease_v2"};
  Function<Handle> setCurrent{library, "cuCtxSetCurrent"};
  Function<Address *, size_t> allocate{library, "cuMemAlloc_v2"};
  Function<Address> free{library, "cuMemFree_v2"};
  Function<Address, const void *, size_t> toDevice{library, "cuMemcpyHtoD_v2"};
  Function<void *, Address, size_t> toHost{library, "cuMemcpyDtoH_v2"};
  Function<Handle *, unsigned> createEvent{library, "cuEventCreate"};
  Function<Handle> destroyEvent{library, "cuEventDestroy_v2"};
  Function<Handle, Handle> record{library, "cuEventRecord"};
  Function<Handle> synchronize{library, "cuEventSynchronize"};
  Function<float *, Handle, Handle> elapsedMs{library, "cuEventElapsedTime"};
};

struct Blas {
  Handle library;
  Function<Handle *> create{library, "cublasCreate_v2"};
  Function<Handle> destroy{library, "cublasDestroy_v2"};
  // Parameters: handle, transpositions, m, n, k, alpha, A, type, stride, B, type, stride, beta, C,
  // type, stride, type of the sums, algorithm.
  Function<Handle, int, int, int, int, int, const void *, Address, int, int, Address, int, int,
           const void *, Address, int, int, int, int>
      multiply{library, "cublasGemmEx"};
};

constexpr const char *kDriverNames[] = {"libcuda.so.1"};
constexpr const char *kBlasNames[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};

class Cublas : public Contestant {
public:
  Cublas(Gpu &gpu, const Tensor &a, const Tensor &b);
  ~Cublas() override;
  double seconds() override { return run(repeats_); }
  std::vector<float> result() override;

private:
  int find(const Gpu &gpu);
  Address upload(const Tensor &tensor);
  double run(uint32_t repeats);

  Driver driver_{openLibrary(kDriverNames)};
  Blas blas_{openLibrary(kBlasNames)};
  int device_ = -1, side_;
  bool halves_;
  Handle handle_ = nullptr, begin_ = nullptr, end_ = nullptr;
  Address a_ = 0, b_ = 0, c_ = 0;
  uint32_t repeats_ = 1;
};

Cublas::Cublas(Gpu &gpu, const Tensor &a, const Tensor &b)
    : side_(static_cast<int>(a.dims[0])), halves_(a.halves) {
  if (const int result = driver_.init.status(0))
    throw Unavailable("cuInit failed with " + std::to_string(result));
  device_ = find(gpu);
  Handle context = nullptr;
  driver_.retain(&context, device_);
  driver_.setCurrent(context);
  driver_.createEvent(&begin_, 0);
  driver_.createEvent(&end_, 0);
  blas_.create(&handle_);
  a_ = upload(a);
  b_ = upload(b);
  driver_.allocate(&c_, size_t(side_) * side_ * (halves_ ? 2 : 4));
  run(1); // The first call loads the library's kernels.
  repeats_ = repeatsOf(run(1));
}

Cublas::~Cublas() {
  blas_.destroy.status(handle_);
  for (Address memory : {a_, b_, c_})
    driver_.free.status(memory);
  driver_.destroyEvent.status(begin_);
  driver_.destroyEvent.status(end_);
  driver_.release.status(device_);
}

int Cublas::find(const Gpu &gpu) {
  int count = 0;
  driver_.deviceCount(&count);
  for (int i = 0; i < count; ++i) {
    int device = 0;
    std::array<uint8_t, 16> uuid{};
    driver_.device(&device, i);
    driver_.uuid(uuid.data(), device);
    if (uuid == gpu.info().uuid)
      return device;
  }
  throw Unavailable(gpu.info().name + " is none of CUDA's " + std::to_string(count) + " devices");
}

Address Cublas::upload(const Tensor &tensor) {
  const std::vector<uint8_t> bytes = bytesOf(tensor);
  Address memory = 0;
  driver_.allocate(&memory, bytes.size());
  driver_.toDevice(memory, bytes.data(), bytes.size());
  return memory;
}

double Cublas::run(uint32_t repeats) {
  const float one = 1, zero = 0;
  const int type = halves_ ? kReal16 : kReal32;
  driver_.record(begin_, nullptr);
  // cuBLAS is column-major, so it computes the transposed matmul with b as the first operand.
  for (uint32_t i = 0; i < repeats; ++i)
    blas_.multiply(handle_, kNotTransposed, kNotTransposed, side_, side_, side_, &one, b_, type,
                   side_, a_, type, side_, &zero, c_, type, side_, kCompute32, kDefaultAlgorithm);
  driver_.record(end_, nullptr);
  driver_.synchronize(end_);
  float ms = 0;
  driver_.elapsedMs(&ms, begin_, end_);
  return ms * 1e-3 / repeats;
}

std::vector<float> Cublas::result() {
  std::vector<uint8_t> bytes(size_t(side_) * side_ * (halves_ ? 2 : 4));
  driver_.toHost(bytes.data(), c_, bytes.size());
  return floatsOf(bytes, halves_);
}

} // namespace

std::unique_ptr<Contestant> makeCublas(Gpu &gpu, const Tensor &a, const Tensor &b) {
  return std::make_unique<Cublas>(gpu, a, b);
}

} // namespace gantry::bench
