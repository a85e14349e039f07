// Implements host_tensor.h: element types, and tensors in the host's memory.
#include "codegen/import/onnx/host_tensor.h"

#include "llvm/ADT/APFloat.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>
#include <cstring>

namespace gantry::importer {

uint64_t dtypeSize(DType type) {
  switch (type) {
  case DType::kI8:
  case DType::kU8:
  case DType::kBool:
    return 1;
  case DType::kF16:
  case DType::kBF16:
  case DType::kI16:
  case DType::kU16:
    return 2;
  case DType::kF32:
  case DType::kI32:
  case DType::kU32:
    return 4;
  case DType::kF64:
  case DType::kI64:
  case DType::kU64:
  case DType::kIndex:
    return 8;
  }
  return 0;
}

llvm::StringRef dtypeName(DType type) {
  static const char *const kNames[] = {"f32", "f16", "f64", "bf16", "i8",  "u8",   "i16",
                                       "u16", "i32", "u32", "i64",  "u64", "bool", "index"};
  return kNames[static_cast<int>(type)];
}

bool isFloat(DType type) {
  return type == DType::kF32 || type == DType::kF16 || type == DType::kF64 || type == DType::kBF16;
}

bool isHalf(DType type) { return type == DType::kF16 || type == DType::kBF16; }

bool isUnsigned(DType type) {
  return type == DType::kU8 || type == DType::kU16 || type == DType::kU32 || type == DType::kU64 ||
         type == DType::kBool;
}

mlir::Type mlirType(mlir::MLIRContext *context, DType type) {
  switch (type) {
  case DType::kF32:
    return mlir::FloatType::getF32(context);
  case DType::kF16:
    return mlir::FloatType::getF16(context);
  case DType::kF64:
    return mlir::FloatType::getF64(context);
  case DType::kBF16:
    return mlir::FloatType::getBF16(context);
  case DType::kBool:
    return mlir::IntegerType::get(context, 1);
  case DType::kIndex:
    return mlir::IndexType::get(context);
  default:
    return mlir::IntegerType::get(context, dtypeSize(type) * 8);
  }
}

DType dtypeFromOnnx(int onnxType) {
  // The values of TensorProto.DataType are written as numbers, so that this file does not depend on
  // protobuf.
  switch (onnxType) {
  case 1:
    return DType::kF32;
  case 2:
    return DType::kU8;
  case 3:
    return DType::kI8;
  case 4:
    return DType::kU16;
  case 5:
    return DType::kI16;
  case 6:
    return DType::kI32;
  case 7:
    return DType::kI64;
  case 9:
    return DType::kBool;
  case 10:
    return DType::kF16;
  case 11:
    return DType::kF64;
  case 12:
    return DType::kU32;
  case 13:
    return DType::kU64;
  case 16:
    return DType::kBF16;
  case 8:
    failUnsupported("the element type string is not supported");
  case 14:
  case 15:
    failUnsupported("complex element types are not supported");
  case 17:
  case 18:
  case 19:
  case 20:
  case 24:
    failUnsupported("8-bit float element types are not supported");
  case 21:
  case 22:
  case 23:
    failUnsupported("4-bit element types are not supported");
  default:
    failBadInput("element type " + llvm::Twine(onnxType) + " is not one of ONNX's");
  }
}

namespace {

double smallFloatToDouble(const llvm::fltSemantics &semantics, uint16_t bits) {
  llvm::APFloat value(semantics, llvm::APInt(16, bits));
  bool losesInfo = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

uint16_t doubleToSmallFloat(const llvm::fltSemantics &semantics, double number) {
  llvm::APFloat value(number);
  bool losesInfo = false;
  value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(value.bitcastToAPInt().getZExtValue());
}

template <typename T> T read(const uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T> void write(uint8_t *at, T value) { std::memcpy(at, &value, sizeof value); }

} // namespace

Number numberOf(DType type, double value) {
  return isFloat(type) ? Number{.f = value} : Number{.i = static_cast<int64_t>(value)};
}

Number loadElement(DType type, const uint8_t *at) {
  Number n;
  switch (type) {
  case DType::kF32:
    n.f = read<float>(at);
    break;
  case DType::kF64:
    n.f = read<double>(at);
    break;
  case DType::kF16:
    n.f = smallFloatToDouble(llvm::APFloat::IEEEhalf(), read<uint16_t>(at));
    break;
  case DType::kBF16:
    n.f = smallFloatToDouble(llvm::APFloat::BFloat(), read<uint16_t>(at));
    break;
  case DType::kI8:
    n.i = int64_t{read<int8_t>(at)};
    break;
  case DType::kU8:
    n.i = read<uint8_t>(at);
    break;
  case DType::kBool:
    n.i = read<uint8_t>(at) != 0;
    break;
  case DType::kI16:
    n.i = read<int16_t>(at);
    break;
  case DType::kU16:
    n.i = read<uint16_t>(at);
    break;
  case DType::kI32:
    n.i = read<int32_t>(at);
    break;
  case DType::kU32:
    n.i = read<uint32_t>(at);
    break;
  case DType::kI64:
  case DType::kU64:
  case DType::kIndex:
    n.i = read<int64_t>(at);
    break;
  }
  return n;
}

void storeElement(DType type, uint8_t *at, Number value) {
  switch (type) {
  case DType::kF32:
    return write<float>(at, static_cast<float>(value.f));
  case DType::kF64:
    return write<double>(at, value.f);
  case DType::kF16:
    return write<uint16_t>(at, doubleToSmallFloat(llvm::APFloat::IEEEhalf(), value.f));
  case DType::kBF16:
    return write<uint16_t>(at, doubleToSmallFloat(llvm::APFloat::BFloat(), value.f));
  case DType::kBool:
    return write<uint8_t>(at, (value.i & 1) != 0);
  case DType::kI8:
  case DType::kU8:
    return write<uint8_t>(at, static_cast<uint8_t>(value.i));
  case DType::kI16:
  case DType::kU16:
    return write<uint16_t>(at, static_cast<uint16_t>(value.i));
  case DType::kI32:
  case DType::kU32:
    return write<uint32_t>(at, static_cast<uint32_t>(value.i));
  case DType::kI64:
  case DType::kU64:
  case DType::kIndex:
    return write<int64_t>(at, value.i);
  }
}

Number roundTo(DType type, Number value) {
  if (type == DType::kF64 || type == DType::kI64 || type == DType::kU64 || type == DType::kIndex)
    return value;
  if (type == DType::kF32) {
    value.f = static_cast<float>(value.f);
    return value;
  }
  uint8_t bytes[8];
  storeElement(type, bytes, value);
  return loadElement(type, bytes);
}

int64_t checkedCount(llvm::ArrayRef<int64_t> dims) {
  constexpr int64_t kLimit = int64_t(1) << 62;
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0)
      failBadInput("impossible shape: a dimension of " + llvm::Twine(dim));
  for (int64_t dim : dims)
    if (__builtin_mul_overflow(count, std::max<int64_t>(dim, 1), &count) || count > kLimit)
      failBadInput("shape arithmetic overflows: the tensor's element count exceeds 2^62");
  for (int64_t dim : dims)
    if (dim == 0)
      return 0;
  return count;
}

int64_t HostTensor::elementCount() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

Number HostTensor::at(int64_t linearIndex) const {
  return loadElement(type, bytes.data() + (splat ? 0 : linearIndex * dtypeSize(type)));
}

double HostTensor::floatAt(int64_t linearIndex) const {
  Number n = at(linearIndex);
  if (isFloat(type))
    return n.f;
  return type == DType::kU64 ? static_cast<double>(static_cast<uint64_t>(n.i))
                             : static_cast<double>(n.i);
}

int64_t HostTensor::intAt(int64_t linearIndex) const {
  Number n = at(linearIndex);
  if (!isFloat(type))
    return n.i;
  if (!(std::fabs(n.f) < 9.2e18))
    failBadInput("the value " + std::to_string(n.f) + " does not fit an integer");
  return static_cast<int64_t>(n.f);
}

std::shared_ptr<HostTensor> makeDense(DType type, llvm::ArrayRef<int64_t> dims, uint8_t *&data) {
  int64_t count = checkedCount(dims);
  uint64_t sizeBytes = 0;
  constexpr uint64_t kMaxBytes = uint64_t(1) << 36;
  if (__builtin_mul_overflow(static_cast<uint64_t>(count), dtypeSize(type), &sizeBytes) ||
      sizeBytes > kMaxBytes)
    failBadInput("a constant of " + llvm::Twine(count) + " elements is larger than 64 GiB");
  auto storage = std::make_shared<std::vector<uint8_t>>(sizeBytes);
  auto tensor = std::make_shared<HostTensor>();
  tensor->type = type;
  tensor->dims.assign(dims.begin(), dims.end());
  data = storage->data();
  tensor->bytes = *storage;
  tensor->owner = std::move(storage);
  return tensor;
}

Constant makeSplat(DType type, llvm::ArrayRef<int64_t> dims, Number value) {
  checkedCount(dims);
  uint8_t *data = nullptr;
  auto tensor = makeDense(type, {}, data);
  storeElement(type, data, value);
  tensor->dims.assign(dims.begin(), dims.end());
  tensor->splat = true;
  return tensor;
}

Constant makeInts(DType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values) {
  uint8_t *data = nullptr;
  auto tensor = makeDense(type, dims, data);
  for (size_t i = 0; i < values.size(); ++i) {
    Number n;
    if (isFloat(type))
      n.f = static_cast<double>(values[i]);
    else
      n.i = values[i];
    storeElement(type, data + i * dtypeSize(type), n);
  }
  return tensor;
}

Constant makeFloats(DType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<double> values) {
  uint8_t *data = nullptr;
  auto tensor = makeDense(type, dims, data);
  for (size_t i = 0; i < values.size(); ++i)
    storeElement(type, data + i * dtypeSize(type), Number{.f = values[i]});
  return tensor;
}

llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * dims[i];
  return strides;
}

Constant reshaped(const Constant &in, llvm::ArrayRef<int64_t> dims) {
  auto out = std::make_shared<HostTensor>(*in);
  out->dims.assign(dims.begin(), dims.end());
  return out;
}

namespace {

// Visits the rows (along the last dimension) of an index space in row-major order. Calls `inner`
// once per row with base + sum(i_k * strides_k) for the row's first element.
void forEachRow(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, int64_t base,
                const std::function<void(int64_t rowStart)> &inner) {
  llvm::SmallVector<int64_t> index(dims.size(), 0);
  int64_t position = base;
  size_t outer = dims.empty() ? 0 : dims.size() - 1;
  while (true) {
    inner(position);
    size_t k = outer;
    while (k-- > 0) {
      position += strides[k];
      if (++index[k] < dims[k])
        break;
      position -= strides[k] * dims[k];
      index[k] = 0;
    }
    if (k == static_cast<size_t>(-1))
      return;
  }
}

} // namespace

Constant gathered(const Constant &in, llvm::ArrayRef<int64_t> dims, int64_t base,
                  llvm::ArrayRef<int64_t> strides) {
  if (in->splat)
    return reshaped(in, dims);
  uint8_t *out = nullptr;
  auto result = makeDense(in->type, dims, out);
  result->name = in->name;
  result->inexact = in->inexact;
  if (result->elementCount() == 0)
    return result;
  const uint64_t size = dtypeSize(in->type);
  const int64_t rowLength = dims.empty() ? 1 : dims.back();
  const int64_t rowStride = dims.empty() ? 0 : strides.back();
  const uint8_t *source = in->bytes.data();
  forEachRow(dims, strides, base, [&](int64_t start) {
    if (rowStride == 1) {
      std::memcpy(out, source + start * size, rowLength * size);
      out += rowLength * size;
      return;
    }
    for (int64_t i = 0; i < rowLength; ++i, out += size)
      std::memcpy(out, source + (start + i * rowStride) * size, size);
  });
  return result;
}

Constant concatenated(llvm::ArrayRef<Constant> parts, int64_t axis) {
  llvm::SmallVector<int64_t> dims(parts[0]->dims.begin(), parts[0]->dims.end());
  bool sameSplat = true;
  std::shared_ptr<const Inexact> inexact;
  dims[axis] = 0;
  for (const Constant &part : parts) {
    dims[axis] += part->dims[axis];
    sameSplat &= part->splat && part->bytes == parts[0]->bytes;
    if (!inexact)
      inexact = part->inexact;
  }
  if (sameSplat && !inexact)
    return reshaped(parts[0], dims);
  uint8_t *out = nullptr;
  auto result = makeDense(parts[0]->type, dims, out);
  result->inexact = inexact;
  const uint64_t size = dtypeSize(parts[0]->type);
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < axis; ++i)
    outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i)
    inner *= dims[i];
  for (int64_t o = 0; o < outer; ++o)
    for (const Constant &part : parts) {
      int64_t count = part->dims[axis] * inner;
      if (count == 0)
        continue;
      if (!part->splat) {
        std::memcpy(out, part->bytes.data() + o * count * size, count * size);
        out += count * size;
        continue;
      }
      for (int64_t i = 0; i < count; ++i, out += size)
        std::memcpy(out, part->bytes.data(), size);
    }
  return result;
}

Constant padded(const Constant &in, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                Number value) {
  llvm::SmallVector<int64_t> dims(in->dims.begin(), in->dims.end());
  for (size_t i = 0; i < dims.size(); ++i)
    dims[i] += low[i] + high[i];
  uint8_t *out = nullptr;
  auto result = makeDense(in->type, dims, out);
  result->inexact = in->inexact;
  const uint64_t size = dtypeSize(in->type);
  const int64_t count = result->elementCount();
  for (int64_t i = 0; i < count; ++i)
    storeElement(in->type, out + i * size, value);
  if (in->elementCount() == 0)
    return result;
  llvm::SmallVector<int64_t> strides = rowMajorStrides(dims);
  int64_t base = 0, at = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    base += low[i] * strides[i];
  const int64_t rowLength = in->dims.empty() ? 1 : in->dims.back();
  forEachRow(in->dims, strides, base, [&](int64_t start) {
    for (int64_t i = 0; i < rowLength; ++i)
      storeElement(in->type, out + (start + i) * size, in->at(at++));
  });
  return result;
}

} // namespace gantry::importer
