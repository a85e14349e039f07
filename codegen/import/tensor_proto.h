// ONNX TensorProto → HostTensor, from raw_data, typed fields or an external file.
//
// raw_data and external data are not copied: the HostTensor points into the message or the mapped
// file and keeps it alive. All of ONNX's plain element types are read; strings, complex numbers and
// 4- and 8-bit floats are refused by name.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <string>

namespace onnx {
class TensorProto;
}

namespace gantry::importer {

/// The external data files of one model: mapped once each, only from the model's own folder or
/// below it (symbolic links are followed before the check).
class ExternalData {
public:
  /// fileRead may be empty; it is told each location once.
  explicit ExternalData(llvm::StringRef modelPath,
                        std::function<void(const std::string &location)> fileRead);
  struct Range {
    llvm::ArrayRef<uint8_t> bytes;
    std::shared_ptr<const void> owner;
  };
  /// `length` bytes (0: up to the end) at `offset` of the file `location`; fails with bad input
  /// where the file is missing, too short, or outside of the folder.
  Range read(llvm::StringRef location, uint64_t offset, uint64_t length);

private:
  std::string folder_;
  std::function<void(const std::string &)> fileRead_;
  llvm::StringMap<Range> files_;
};

/// The contents of `proto`, which `owner` keeps alive. external may be null (then external data is
/// bad input). Fails by throwing ImportError.
Constant hostTensorFromProto(const onnx::TensorProto &proto, std::shared_ptr<const void> owner,
                             ExternalData *external);

/// The contents of a TensorProto file (.pb), its name included. False, with `error` set, where it
/// is missing, damaged or of a type that is not supported.
bool readTensorProto(llvm::StringRef path, Constant &tensor, ImportError &error);

} // namespace gantry::importer
