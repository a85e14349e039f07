// Implements tensor_proto.h: reads tensors from protobuf messages and external data files.
#include "codegen/import/tensor_proto.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <onnx/onnx_pb.h>

namespace gantry::importer {

using onnx::TensorProto;

ExternalData::ExternalData(llvm::StringRef modelPath,
                           std::function<void(const std::string &)> fileRead)
    : fileRead_(std::move(fileRead)) {
  llvm::SmallString<256> real;
  llvm::StringRef folder = llvm::sys::path::parent_path(modelPath);
  if (!llvm::sys::fs::real_path(folder.empty() ? "." : folder, real))
    folder_ = real.str();
}

ExternalData::Range ExternalData::read(llvm::StringRef location, uint64_t offset, uint64_t length) {
  auto [it, added] = files_.try_emplace(location);
  if (added) {
    llvm::SmallString<256> path(folder_), real;
    llvm::sys::path::append(path, location);
    if (location.empty() || llvm::sys::path::is_absolute(location) || folder_.empty())
      failBadInput("the external data file \"" + location +
                   "\" must be a path relative to the model");
    if (std::error_code error = llvm::sys::fs::real_path(path, real))
      failBadInput("cannot open the external data file " + path.str() + ": " + error.message());
    llvm::SmallString<256> prefix(folder_);
    if (!llvm::StringRef(prefix).ends_with("/"))
      prefix += "/";
    if (!llvm::StringRef(real).starts_with(prefix))
      failBadInput("the external data file \"" + location + "\" is outside of the model's folder " +
                   folder_);
    auto buffer =
        llvm::MemoryBuffer::getFile(real, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      failBadInput("cannot read the external data file " + real.str() + ": " +
                   buffer.getError().message());
    std::shared_ptr<llvm::MemoryBuffer> shared = std::move(*buffer);
    auto *start = reinterpret_cast<const uint8_t *>(shared->getBufferStart());
    it->second = {{start, shared->getBufferSize()}, shared};
    if (fileRead_)
      fileRead_(location.str());
  }
  const Range &file = it->second;
  if (offset > file.bytes.size() || length > file.bytes.size() - offset)
    failBadInput("the external data file \"" + location + "\" is too short: it has " +
                 llvm::Twine(file.bytes.size()) + " bytes, but " + llvm::Twine(length) +
                 " bytes are needed at offset " + llvm::Twine(offset));
  return {file.bytes.slice(offset, length ? length : file.bytes.size() - offset), file.owner};
}

namespace {

llvm::ArrayRef<uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

uint64_t parseNumber(const std::string &key, llvm::StringRef text) {
  uint64_t value = 0;
  if (text.getAsInteger(10, value))
    failBadInput("external data has the " + key + " \"" + text + "\", which is not a number");
  return value;
}

ExternalData::Range externalRange(const TensorProto &proto, ExternalData *external) {
  std::string location;
  uint64_t offset = 0, length = 0;
  for (const auto &entry : proto.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      offset = parseNumber("offset", entry.value());
    else if (entry.key() == "length")
      length = parseNumber("length", entry.value());
  }
  if (!external)
    failBadInput("the elements are in an external data file, which is supported only in a model");
  return external->read(location, offset, length);
}

// Copies a typed field of the message (float_data, int32_data, ...), which has one entry per
// element, and converts each entry to T.
template <typename Field, typename T>
void copyField(const Field &field, uint8_t *data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T element = static_cast<T>(field.Get(i));
    std::memcpy(data + i * sizeof(T), &element, sizeof(T));
  }
}

// Returns the number of entries in the typed field that ONNX uses for the element type.
int64_t fieldSize(const TensorProto &proto, DType type) {
  switch (type) {
  case DType::kF32:
    return proto.float_data_size();
  case DType::kF64:
    return proto.double_data_size();
  case DType::kI64:
    return proto.int64_data_size();
  case DType::kU32:
  case DType::kU64:
    return proto.uint64_data_size();
  default:
    return proto.int32_data_size();
  }
}

// Copies the typed field that ONNX uses for the element type. Elements of at most 16 bits are in
// int32_data, and a 16-bit float is stored there as its bit pattern.
void copyTypedField(const TensorProto &proto, DType type, uint8_t *data, int64_t count) {
  switch (type) {
  case DType::kF32:
    return copyField<decltype(proto.float_data()), float>(proto.float_data(), data, count);
  case DType::kF64:
    return copyField<decltype(proto.double_data()), double>(proto.double_data(), data, count);
  case DType::kI64:
    return copyField<decltype(proto.int64_data()), int64_t>(proto.int64_data(), data, count);
  case DType::kU64:
    return copyField<decltype(proto.uint64_data()), uint64_t>(proto.uint64_data(), data, count);
  case DType::kU32:
    return copyField<decltype(proto.uint64_data()), uint32_t>(proto.uint64_data(), data, count);
  case DType::kI32:
    return copyField<decltype(proto.int32_data()), int32_t>(proto.int32_data(), data, count);
  case DType::kI16:
  case DType::kU16:
  case DType::kF16:
  case DType::kBF16:
    return copyField<decltype(proto.int32_data()), uint16_t>(proto.int32_data(), data, count);
  default:
    return copyField<decltype(proto.int32_data()), uint8_t>(proto.int32_data(), data, count);
  }
}

} // namespace

Constant hostTensorFromProto(const TensorProto &proto, std::shared_ptr<const void> owner,
                             ExternalData *external) {
  std::string what = "the tensor \"" + proto.name() + "\"";
  llvm::SmallVector<int64_t, 4> dims(proto.dims().begin(), proto.dims().end());
  if (dims.size() > 8)
    failUnsupported(what + " has rank " + llvm::Twine(dims.size()) + "; at most 8 is supported");
  const DType type = dtypeFromOnnx(proto.data_type());
  const int64_t count = checkedCount(dims);
  uint64_t sizeBytes = 0;
  if (__builtin_mul_overflow(uint64_t(count), dtypeSize(type), &sizeBytes))
    failBadInput(what + " has more bytes than 64 bits can count");

  auto tensor = std::make_shared<HostTensor>();
  tensor->type = type;
  tensor->dims = dims;
  tensor->name = proto.name();
  if (proto.data_location() == TensorProto::EXTERNAL) {
    ExternalData::Range range = externalRange(proto, external);
    if (range.bytes.size() < sizeBytes)
      failBadInput(what + " needs " + llvm::Twine(sizeBytes) +
                   " bytes, but its external data has " + llvm::Twine(range.bytes.size()));
    tensor->bytes = range.bytes.take_front(sizeBytes);
    tensor->owner = range.owner;
    return tensor;
  }
  if (proto.has_raw_data()) {
    tensor->bytes = bytesOf(proto.raw_data());
    tensor->owner = std::move(owner);
    if (tensor->bytes.size() != sizeBytes)
      failBadInput(what + " needs " + llvm::Twine(sizeBytes) + " bytes, but its raw data has " +
                   llvm::Twine(tensor->bytes.size()));
    return tensor;
  }
  if (fieldSize(proto, type) != count)
    failBadInput(what + " needs " + llvm::Twine(count) + " elements, but has " +
                 llvm::Twine(fieldSize(proto, type)));
  uint8_t *data = nullptr;
  auto copy = makeDense(type, dims, data);
  copy->name = proto.name();
  copyTypedField(proto, type, data, count);
  return copy;
}

bool readTensorProto(llvm::StringRef path, Constant &tensor, ImportError &error) {
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (buffer.getError() == std::errc::not_enough_memory)
    throw std::bad_alloc();
  if (!buffer) {
    error = {ImportFailure::kBadInput,
             "cannot read " + path.str() + ": " + buffer.getError().message()};
    return false;
  }
  google::protobuf::LogSilencer silence; // Keeps protobuf from logging damaged files.
  auto proto = std::make_shared<TensorProto>();
  size_t size = (*buffer)->getBufferSize();
  if (size > INT32_MAX || !proto->ParseFromArray((*buffer)->getBufferStart(), int(size)) ||
      !proto->has_data_type()) {
    error = {ImportFailure::kBadInput, path.str() + " is not an ONNX TensorProto file"};
    return false;
  }
  try {
    tensor = hostTensorFromProto(*proto, proto, nullptr);
    return true;
  } catch (ImportError &thrown) {
    error = {thrown.kind, path.str() + ": " + thrown.message};
    return false;
  }
}

} // namespace gantry::importer
