// Implements types.h.
#include "python/src/types.h"

#include <array>

namespace gantry::python {

namespace {

struct TypeRow {
  const char *numpy;
  DLDataType dlpack;
};

/// The types in the order of gantry_type_t.
constexpr std::array<TypeRow, 13> kTypes{{
    {"float32", {kDLFloat, 32, 1}},
    {"float16", {kDLFloat, 16, 1}},
    {"float64", {kDLFloat, 64, 1}},
    {"bfloat16", {kDLBfloat, 16, 1}},
    {"int8", {kDLInt, 8, 1}},
    {"uint8", {kDLUInt, 8, 1}},
    {"int16", {kDLInt, 16, 1}},
    {"uint16", {kDLUInt, 16, 1}},
    {"int32", {kDLInt, 32, 1}},
    {"uint32", {kDLUInt, 32, 1}},
    {"int64", {kDLInt, 64, 1}},
    {"uint64", {kDLUInt, 64, 1}},
    {"bool", {kDLBool, 8, 1}},
}};

} // namespace

const char *numpyName(gantry_type_t type) { return kTypes[type].numpy; }

DLDataType dlpackType(gantry_type_t type) { return kTypes[type].dlpack; }

std::optional<gantry_type_t> typeOf(DLDataType type) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    const DLDataType &each = kTypes[i].dlpack;
    if (each.code == type.code && each.bits == type.bits && each.lanes == type.lanes)
      return static_cast<gantry_type_t>(i);
  }
  return std::nullopt;
}

std::string nameOf(DLDataType type) {
  if (const auto known = typeOf(type))
    return numpyName(*known);
  constexpr std::array<const char *, 7> kCodes{"int",    "uint",    "float", "opaque",
                                               "bfloat", "complex", "bool"};
  std::string name = type.code < kCodes.size() ? kCodes[type.code]
                                               : "type code " + std::to_string(type.code) + " ";
  name += std::to_string(type.bits);
  if (type.lanes != 1)
    name += "x" + std::to_string(type.lanes);
  return name;
}

} // namespace gantry::python
