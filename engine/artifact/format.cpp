// XXH3 hashes, and the functions of artifact.h that read one property of an element type, a texel
// format, a value or a kernel variant.
#include "engine/artifact/format.h"

#include "engine/artifact/artifact.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace gantry::artifact {

uint64_t hashBytes(std::span<const uint8_t> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(new State) { reset(); }
Hasher::~Hasher() { delete state_; }
void Hasher::reset() { XXH3_64bits_reset(&state_->xxh); }
void Hasher::update(std::span<const uint8_t> bytes) {
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}
uint64_t Hasher::digest() const { return XXH3_64bits_digest(&state_->xxh); }

Box boxOf(const Value &value, std::span<const int64_t> exprs) {
  Box box{elementSize(value.type()), {}};
  const auto number = [&](uint32_t at) {
    return static_cast<uint64_t>(exprs[value.box()->Get(at)]);
  };
  // Three indices in Program.exprs for each dimension: those of its extent, start and size.
  for (uint32_t i = 0; i < value.box()->size(); i += 3)
    box.dims.push_back({number(i), number(i + 1), number(i + 2)});
  return box;
}

uint64_t elementSize(ElementType type) {
  switch (type) {
  case ElementType::f64:
  case ElementType::i64:
  case ElementType::u64:
    return 8;
  case ElementType::f32:
  case ElementType::i32:
  case ElementType::u32:
    return 4;
  case ElementType::f16:
  case ElementType::bf16:
  case ElementType::i16:
  case ElementType::u16:
    return 2;
  case ElementType::i8:
  case ElementType::u8:
  case ElementType::bool8:
    return 1;
  }
  return 0;
}

uint64_t texelSize(TexelFormat format) {
  return format == TexelFormat::rgba8ui ? 4 : format == TexelFormat::rgba16f ? 8 : 16;
}

const char *elementName(ElementType type) {
  return type == ElementType::bool8 ? "bool" : EnumNameElementType(type);
}

uint32_t workgroupSizeOf(const Kernel &kernel, const KernelVariant &variant, uint32_t dimension) {
  const bool own = variant.workgroup_size() && variant.workgroup_size()->size() != 0;
  return (own ? variant.workgroup_size() : kernel.workgroup_size())->Get(dimension);
}

uint32_t workgroupCountOf(const Command &command, const KernelVariant &variant,
                          uint32_t dimension) {
  if (variant.grid() == 0)
    return command.workgroups()->Get(dimension);
  // other_workgroups holds the indices in Program.exprs of three counts for each grid, from grid 1
  // on.
  return command.other_workgroups()->Get(3 * (variant.grid() - 1) + dimension);
}

} // namespace gantry::artifact
