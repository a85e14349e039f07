// Tests the import of host memory, and the export and import of memory by file descriptor.
#include "tests/conformance/drivers.h"
#include "tests/engine/trace/memory_sink.h"

#include <sys/mman.h>
#include <unistd.h>

namespace gantry::test {
namespace {

using device::ImportSource;
using device::MemoryKind;

using ExternalMemoryConformance = Conformance;

TEST_P(ExternalMemoryConformance, HostMemoryIsUsedInPlace) {
  const uint64_t alignment = device_->info().external.hostPointerAlignmentBytes;
  if (alignment == 0)
    GTEST_SKIP() << GetParam().name << " imports no host memory";
  const uint64_t size = 4 * alignment;
  void *pages =
      mmap(nullptr, size + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const auto start = reinterpret_cast<uintptr_t>(pages);
  auto *bytes = reinterpret_cast<uint8_t *>((start + alignment - 1) / alignment * alignment);
  ImportSource source;
  source.hostPointer = bytes;
  source.sizeBytes = size;
  {
    auto imported = device_->importMemory(source);
    ASSERT_TRUE(imported.isOk()) << imported.status().message();
    EXPECT_EQ((*imported)->mapped(), bytes);
    EXPECT_EQ((*imported)->sizeBytes(), size);
    bytes[5] = 99;
    EXPECT_EQ(read(**imported, 5, 1)[0], 99);
    auto list = begin();
    ASSERT_TRUE(list->fill({imported->get(), 0, size}, 0x01010101).isOk());
    finish(*list);
    EXPECT_EQ(bytes[0], 1);
    EXPECT_EQ(bytes[size - 1], 1);
  }
  bytes[0] = 7; // The pages must still be mapped, because the caller owns them.
  source.hostPointer = bytes + 1;
  EXPECT_EQ(device_->importMemory(source).status().code(), StatusCode::kInvalidArgument);
  source.hostPointer = bytes;
  source.sizeBytes = size - 1;
  EXPECT_EQ(device_->importMemory(source).status().code(), StatusCode::kInvalidArgument);
  source.hostPointer = nullptr;
  source.sizeBytes = size;
  EXPECT_EQ(device_->importMemory(source).status().code(), StatusCode::kInvalidArgument);
  munmap(pages, size + alignment);
}

TEST_P(ExternalMemoryConformance, ImportsAreTraced) {
  const uint64_t alignment = device_->info().external.hostPointerAlignmentBytes;
  if (alignment == 0 || device_->info().backend != "vulkan")
    GTEST_SKIP() << GetParam().name << " imports no host memory or does not trace";
  void *pages =
      mmap(nullptr, 2 * alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const auto start = reinterpret_cast<uintptr_t>(pages);
  ImportSource source;
  source.hostPointer = reinterpret_cast<void *>((start + alignment - 1) / alignment * alignment);
  source.sizeBytes = alignment;
  auto early = device_->importMemory(source);
  ASSERT_TRUE(early.isOk()) << early.status().message();
  // The first import exists already when this sink of trace events attaches. The sink must get an
  // event of this import, too.
  MemorySink sink;
  auto late = device_->importMemory(source);
  ASSERT_TRUE(late.isOk()) << late.status().message();
  early->reset();
  const std::vector<trace::Event> events = sink.events();
  const auto begun = ofType(events, trace::EventType::kImport);
  const auto ended = ofType(events, trace::EventType::kImportEnd);
  ASSERT_EQ(begun.size(), 2u);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].import.id, begun[0].import.id);
  EXPECT_NE(begun[0].import.id, begun[1].import.id);
  for (const trace::Event &event : begun) {
    EXPECT_EQ(event.import.sizeBytes, alignment);
    EXPECT_EQ(event.import.device, device_->number());
    EXPECT_EQ(sink.names()[event.import.name], "host pointer");
  }
  late->reset();
  munmap(pages, 2 * alignment);
}

TEST_P(ExternalMemoryConformance, DescriptorsShareMemory) {
  if (!device_->info().external.opaqueFds) {
    device::AllocateOptions options;
    options.exportable = true;
    EXPECT_EQ(device_->allocate(MemoryKind::kUnified, 4096, options).status().code(),
              StatusCode::kUnsupported);
    GTEST_SKIP() << GetParam().name << " shares no memory by descriptor";
  }
  constexpr uint64_t kSize = 10000;
  device::AllocateOptions options;
  options.exportable = true;
  auto memory = device_->allocate(MemoryKind::kUnified, kSize, options);
  ASSERT_TRUE(memory.isOk()) << memory.status().message();
  EXPECT_TRUE((*memory)->exportable());
  std::memset((*memory)->mapped(), 3, kSize);
  auto fd = device_->exportMemory(**memory);
  ASSERT_TRUE(fd.isOk()) << fd.status().message();
  ImportSource source;
  source.type = ImportSource::Type::kOpaqueFd;
  source.fd = *fd;
  source.sizeBytes = kSize;
  source.memoryType = (*memory)->memoryType();
  auto imported = device_->importMemory(source);
  ASSERT_TRUE(imported.isOk()) << imported.status().message();
  EXPECT_EQ((*imported)->mapped()[kSize - 1], 3);
  (*imported)->mapped()[0] = 4;
  EXPECT_EQ((*memory)->mapped()[0], 4) << "both objects map the same memory";
  memory->reset(); // The import keeps the memory alive.
  EXPECT_EQ(read(**imported, 0, 2), (std::vector<uint8_t>{4, 3}));
}

TEST_P(ExternalMemoryConformance, BadSourcesAreRefused) {
  auto plain = allocate(MemoryKind::kUnified, 4096);
  EXPECT_EQ(device_->exportMemory(*plain).status().code(), StatusCode::kInvalidArgument);
  if (!device_->info().external.opaqueFds)
    GTEST_SKIP() << GetParam().name << " shares no memory by descriptor";
  ImportSource source;
  source.type = ImportSource::Type::kOpaqueFd;
  source.sizeBytes = 4096;
  source.fd = -1;
  EXPECT_EQ(device_->importMemory(source).status().code(), StatusCode::kInvalidArgument);
  source.fd = 0;
  source.sizeBytes = 0;
  EXPECT_EQ(device_->importMemory(source).status().code(), StatusCode::kInvalidArgument);
  source.sizeBytes = 4096;
  source.memoryType = 99;
  EXPECT_EQ(device_->importMemory(source).status().code(), StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(All, ExternalMemoryConformance, testing::ValuesIn(drivers()), driverName);

} // namespace
} // namespace gantry::test
