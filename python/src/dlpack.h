// The structs of the DLPack protocol 1.1 (https://dmlc.github.io/dlpack/latest/c_api.html), with
// the protocol's names for their fields. Debian's libdlpack-dev is 0.6, which lacks versioned
// tensors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gantry::python {

/// DLDeviceType. Only memory that the host can read and write is exchanged.
enum DLDeviceType : int32_t { kDLCPU = 1, kDLCUDAHost = 3, kDLROCMHost = 11 };

/// DLDataTypeCode.
enum DLDataTypeCode : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; // In elements. NULL: row-major without gaps.
  uint64_t byte_offset;
};

/// An unversioned tensor, in a capsule named "dltensor".
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self); // Or NULL.
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

constexpr uint64_t kDLReadOnly = 1, kDLIsCopied = 2;

/// A versioned tensor, in a capsule named "dltensor_versioned".
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self); // Or NULL.
  uint64_t flags;
  DLTensor dl_tensor;
};

constexpr DLPackVersion kDLPackVersion{1, 1};
constexpr const char *kCapsule = "dltensor", *kUsedCapsule = "used_dltensor";
constexpr const char *kVersionedCapsule = "dltensor_versioned",
                     *kUsedVersionedCapsule = "used_dltensor_versioned";

} // namespace gantry::python
