// Reads an ONNX TensorProto into a HostTensor, a tensor whose elements are in the host's memory
// (onnx/host_tensor.h). The elements come from raw_data, typed fields or an external file.
//
// raw_data and external data are not copied: the HostTensor points into the message or the mapped
// file and keeps it alive. Strings, complex numbers, 8-bit floats and 4-bit types are not
// supported. Thread safety: an ExternalData is used by one thread at a time.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <string>

namespace onnx {
class TensorProto;
}

namespace gantry::importer {

/// The external data files of one model. Each is mapped once. A file must lie in the model's own
/// folder or below it; symbolic links are followed before this is checked.
class ExternalData {
public:
  /// fileRead is called once for each location that is read; it may be empty.
  explicit ExternalData(llvm::StringRef modelPath,
                        std::function<void(const std::string &location)> fileRead);
  /// Bytes of a file, and the mapping that keeps them alive.
  struct Range {
    llvm::ArrayRef<uint8_t> bytes;
    std::shared_ptr<const void> owner;
  };
  /// Returns `length` bytes (0: up to the end) at `offset` of the file `location`. Throws
  /// ImportError (kBadInput in import.h) if the file is missing, too short, or outside of the
  /// folder.
  Range read(llvm::StringRef location, uint64_t offset, uint64_t length);

private:
  std::string folder_;
  std::function<void(const std::string &)> fileRead_;
  llvm::StringMap<Range> files_;
};

/// Returns the contents of `proto`; `owner` keeps the message alive. Throws ImportError if the
/// tensor is damaged or its type is not supported, and, if `external` is null, for a tensor with
/// external data.
Constant hostTensorFromProto(const onnx::TensorProto &proto, std::shared_ptr<const void> owner,
                             ExternalData *external);

/// Reads a TensorProto file (.pb) into `tensor`. Returns false and sets `error` if the file is
/// missing or damaged, or the type is not supported.
bool readTensorProto(llvm::StringRef path, Constant &tensor, ImportError &error);

} // namespace gantry::importer
