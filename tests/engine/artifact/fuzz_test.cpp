// Mutates the metadata of valid artifacts and corrects the checksums, so that only the rules of
// verify.cpp protect readers from the damage. The test reads each accepted program completely, so a
// missing rule causes a crash or a report of a sanitizer.
//
// The test runs for GANTRY_FUZZ_SECONDS (default 3) with the seed GANTRY_FUZZ_SEED (default:
// random; the test prints it).
#include "engine/artifact/format.h"
#include "tests/engine/artifact/sample_program.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

namespace gantry::artifact {
namespace {

volatile uint64_t sink;

/// Reads a program like sessions and `gantry inspect`, without further checks.
uint64_t readWhole(const Artifact &artifact) {
  const Program &p = artifact.program();
  uint64_t sum = p.name()->size() + p.producer()->size() + p.source()->size() + p.profile()->size();
  std::vector<int64_t> symbols;
  for (const Symbol *symbol : *p.symbols()) {
    sum += symbol->name()->size() + p.inputs()->Get(symbol->input())->dims()->Get(symbol->dim());
    symbols.push_back(std::max<int64_t>(symbol->min(), std::min<int64_t>(symbol->max(), 3)));
  }
  const Result<std::vector<int64_t>> evaluated = evaluateExprs(p, symbols);
  const std::vector<int64_t> exprs =
      evaluated.isOk() ? *evaluated : std::vector<int64_t>(p.exprs()->size());
  sum += evaluated.status().message().size();
  for (const auto *ports : {p.inputs(), p.outputs()}) {
    for (const Port *port : *ports) {
      sum += p.values()->Get(port->value())->size() + elementSize(port->type());
      int64_t dims[8];
      for (uint32_t i = 0; i < port->dims()->size(); ++i)
        dims[i] = exprs[port->dims()->Get(i)];
      sum += port->dims()->size() == 0 ? 0 : static_cast<uint64_t>(dims[0]);
    }
  }
  std::vector<uint8_t> arena(p.dynamic() || p.arena_bytes() > 4096 ? 0 : p.arena_bytes());
  std::vector<uint32_t> slots(p.values()->size());
  std::vector<uint32_t> uses(p.commands()->size() + 1);
  for (const Value *value : *p.values()) {
    sum += value->op()->size() + value->name()->c_str()[value->name()->size()];
    ++uses[value->first_use()];
    ++uses[value->last_use()];
    const auto size = static_cast<uint64_t>(exprs[value->size()]);
    if (value->storage() == Storage::constant && !value->fill())
      for (const uint8_t byte : artifact.constants().subspan(value->byte_offset(), size))
        sum += byte;
    if (value->storage() == Storage::transient) {
      ++slots[value->slot()];
      if (!arena.empty() && evaluated.isOk())
        std::memset(arena.data() + value->byte_offset(), 1, size);
    }
  }
  for (uint32_t i = 0; p.states() && i < p.states()->size(); ++i) {
    const State &state = *p.states()->Get(i);
    sum += state.name()->size() + p.inputs()->Get(state.input())->value() + state.capacity_bytes();
    if (state.output() != UINT32_MAX)
      sum += p.outputs()->Get(state.output())->value();
    if (state.initial() != UINT32_MAX)
      sum += p.values()->Get(state.initial())->size();
    for (uint32_t d = 0; state.order() && d < state.order()->size(); ++d)
      sum += p.inputs()->Get(state.input())->dims()->Get(state.order()->Get(d));
  }
  for (const Kernel *kernel : *p.kernels()) {
    sum += kernel->workgroup_size()->Get(2) + kernel->name()->size() + kernel->tile()->size() +
           kernel->entry_point()->size();
    for (const KernelVariant *variant : *kernel->variants()) {
      for (const uint32_t word : *variant->spirv())
        sum += word;
      for (const flatbuffers::String *capability : *variant->capabilities())
        sum += std::strlen(capability->c_str());
      std::vector<uint8_t> buffers(kernel->buffer_count());
      if (variant->texels())
        for (const TexelRead *read : *variant->texels())
          buffers[read->buffer()] += static_cast<uint8_t>(texelSize(read->format()));
      std::vector<uint64_t> block(kernel->buffer_count() + kernel->dim_count());
      std::vector<uint8_t> pushed(variant->push_constant_bytes());
      if (!pushed.empty())
        std::memcpy(pushed.data(), block.data(), pushed.size());
    }
  }
  for (const Command *command : *p.commands()) {
    sum += command->name()->size() + command->location()->size();
    for (uint32_t i = 0; i < command->bindings()->size(); ++i)
      sum += p.values()->Get(command->bindings()->Get(i))->alignment() + command->writes()->Get(i);
    sum += static_cast<uint64_t>(exprs[command->flops()] ^ exprs[command->bytes_moved()]);
    if (command->kind() == CommandKind::copy) {
      sum += command->bindings()->Get(1);
      continue;
    }
    const Kernel &kernel = *p.kernels()->Get(command->kernel());
    for (uint32_t i = 0; i < kernel.dim_count(); ++i)
      sum += static_cast<uint64_t>(exprs[command->dims()->Get(i)]);
    for (const KernelVariant *variant : *kernel.variants())
      for (uint32_t i = 0; i < 3; ++i)
        sum += static_cast<uint64_t>(exprs[workgroupCountOf(*command, *variant, i)]) +
               workgroupSizeOf(kernel, *variant, i);
  }
  const Status status = artifact.readConstants([&](uint64_t, std::span<const uint8_t> bytes) {
    for (const uint8_t byte : bytes)
      sum += byte;
    return Status::ok();
  });
  return sum + status.message().size();
}

/// Changes one to four places of the metadata: a bit, a byte, or an aligned word. Words are
/// indices, counts and offsets. A word becomes a small or extreme number, changes by up to 4, or
/// becomes a copy of another word.
void mutate(std::span<uint8_t> metadata, std::mt19937_64 &random) {
  static constexpr uint32_t kWords[] = {
      0,    1,    2,     3,     4,          5,          6,          7,         8,   9,
      10,   12,   13,    16,    64,         255,        256,        257,       511, 512,
      4096, 4097, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  for (uint64_t i = 0, count = 1 + random() % 4; i < count; ++i) {
    uint8_t *byte = &metadata[random() % metadata.size()];
    uint8_t *word = &metadata[random() % (metadata.size() / 4) * 4];
    uint32_t old;
    std::memcpy(&old, word, 4);
    switch (random() % 5) {
    case 0:
      *byte ^= static_cast<uint8_t>(1u << (random() % 8));
      break;
    case 1:
      *byte = static_cast<uint8_t>(random());
      break;
    case 2:
      old = kWords[random() % std::size(kWords)];
      break;
    case 3:
      old += static_cast<uint32_t>(random() % 9) - 4;
      break;
    case 4:
      std::memcpy(&old, &metadata[random() % (metadata.size() / 4) * 4], 4);
      break;
    }
    std::memcpy(word, &old, 4);
  }
}

double fromEnvironment(const char *name, double otherwise) {
  const char *value = std::getenv(name);
  return value == nullptr ? otherwise : std::atof(value);
}

TEST(ArtifactFuzz, DamagedMetadataIsRefusedOrHarmless) {
  const auto seed =
      static_cast<uint64_t>(fromEnvironment("GANTRY_FUZZ_SEED", std::random_device{}()));
  std::printf("GANTRY_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  const std::vector<uint8_t> originals[] = {fileOf(staticProgram()), fileOf(dynamicProgram())};
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration<double>(fromEnvironment("GANTRY_FUZZ_SECONDS", 3));
  size_t accepted = 0;
  size_t refused = 0;
  while (std::chrono::steady_clock::now() < end) {
    std::vector<uint8_t> file = originals[random() % 2];
    FileHeader header;
    std::memcpy(&header, file.data(), sizeof(header));
    const std::span<uint8_t> metadata =
        std::span<uint8_t>(file).subspan(header.metadataOffset, header.metadataBytes);
    mutate(metadata, random);
    header.metadataHash = hashBytes(metadata);
    header.headerHash =
        hashBytes({reinterpret_cast<const uint8_t *>(&header), offsetof(FileHeader, headerHash)});
    std::memcpy(file.data(), &header, sizeof(header));
    const Result<std::unique_ptr<Artifact>> artifact = Artifact::fromMemory(file);
    if (artifact.isOk()) {
      sink = readWhole(**artifact);
      ++accepted;
    } else {
      EXPECT_EQ(artifact.status().code(), StatusCode::kDataLoss) << artifact.status().message();
      ++refused;
    }
  }
  std::printf("%zu accepted, %zu refused\n", accepted, refused);
  EXPECT_GT(accepted, 100u); // Changes of names and of SPIR-V words, for example, are valid.
  EXPECT_GT(refused, 100u);
}

} // namespace
} // namespace gantry::artifact
