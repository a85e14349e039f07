// Tests the choice of memory types. The tables of heaps and types follow real devices that
// vulkan.gpuinfo.org lists.
#include "engine/device/memory_types.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gantry::device {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

/// Returns a memory type of this heap. Each letter of `flags` sets a property: D: device-local; V:
/// host-visible; C: host-coherent; H: host-cached; x: not usable.
MemoryTypeInfo type(uint32_t heap, const std::string &flags) {
  auto has = [&](char c) { return flags.find(c) != std::string::npos; };
  return {heap, has('D'), has('V'), has('C'), has('H'), !has('x')};
}

struct Machine {
  const char *name;
  std::vector<MemoryHeapInfo> heaps;
  std::vector<MemoryTypeInfo> types;
  std::vector<uint8_t> device, upload, readback, unified; // Expected types, in order of preference.
};

std::vector<Machine> machines() {
  return {
      {"NVIDIA discrete, 256 MiB window",
       {{8 * kGiB, true}, {32 * kGiB, false}, {246 * kMiB, true}},
       {type(1, ""), type(0, "D"), type(1, "VC"), type(1, "VCH"), type(2, "DVC")},
       {1, 4},
       {2, 3, 4},
       {3, 2, 4},
       {3, 2, 4}},
      {"NVIDIA discrete, resizable BAR",
       {{24 * kGiB, true}, {64 * kGiB, false}},
       {type(1, ""), type(0, "D"), type(1, "VC"), type(1, "VCH"), type(0, "DVC")},
       {1, 4},
       {2, 3, 4},
       {3, 2, 4},
       {3, 4, 2}},
      {"AMD discrete (RADV), 256 MiB window, device-coherent types",
       {{7936 * kMiB, true}, {16 * kGiB, false}, {256 * kMiB, true}},
       {type(0, "D"), type(0, "D"), type(1, "VC"), type(2, "DVC"), type(2, "DVC"), type(1, "VCH"),
        type(0, "Dx"), type(2, "DVCx"), type(1, "VCHx")},
       {0, 1, 3, 4},
       {2, 5, 3, 4},
       {5, 2, 3, 4},
       {5, 2, 3, 4}},
      {"AMD discrete (RADV), resizable BAR",
       {{15 * kGiB, false}, {16 * kGiB, true}},
       {type(1, "D"), type(0, "VC"), type(1, "DVC"), type(0, "VCH")},
       {0, 2},
       {1, 3, 2},
       {3, 1, 2},
       {3, 2, 1}},
      {"Intel integrated, shared cache",
       {{12 * kGiB, true}},
       {type(0, "DVCH")},
       {0},
       {0},
       {0},
       {0}},
      {"Intel integrated, no shared cache",
       {{15 * kGiB, true}},
       {type(0, "D"), type(0, "DVC"), type(0, "DVH"), type(0, "DVCH")},
       {0, 1, 2, 3},
       {1, 3},
       {3, 1},
       {3, 1}},
      {"Adreno",
       {{5 * kGiB, true}},
       {type(0, "D"), type(0, "DVC"), type(0, "DVH"), type(0, "DVCH"), type(0, "Dx")},
       {0, 1, 2, 3},
       {1, 3},
       {3, 1},
       {3, 1}},
      {"Mali, with lazily allocated and protected types",
       {{7 * kGiB, true}},
       {type(0, "DVC"), type(0, "DVCH"), type(0, "DVH"), type(0, "Dx"), type(0, "Dx")},
       {0, 1, 2},
       {0, 1},
       {1, 0},
       {1, 0}},
      {"lavapipe", {{2 * kGiB, true}}, {type(0, "DVCH")}, {0}, {0}, {0}, {0}},
  };
}

std::vector<uint8_t> listed(const MemoryTypeList &list) {
  return {list.span().begin(), list.span().end()};
}

TEST(MemoryTypes, AreChosenAsExpectedOnRealDevices) {
  for (const Machine &machine : machines()) {
    const MemoryKindTable table = chooseMemoryTypes(machine.heaps, machine.types);
    EXPECT_EQ(listed(table.of(MemoryKind::kDevice)), machine.device) << machine.name;
    EXPECT_EQ(listed(table.of(MemoryKind::kUpload)), machine.upload) << machine.name;
    EXPECT_EQ(listed(table.of(MemoryKind::kReadback)), machine.readback) << machine.name;
    EXPECT_EQ(listed(table.of(MemoryKind::kUnified)), machine.unified) << machine.name;
  }
}

TEST(MemoryTypes, DeviceMemoryIsNotReplacedSilently) {
  const MemoryHeapInfo heaps[] = {{kGiB, true}, {8 * kGiB, false}};
  const MemoryTypeInfo local[] = {type(0, "D"), type(1, "VC")};
  EXPECT_EQ(listed(chooseMemoryTypes(heaps, local).of(MemoryKind::kDevice)),
            std::vector<uint8_t>{0});
  const MemoryTypeInfo none[] = {type(1, ""), type(1, "VC")};
  EXPECT_EQ(listed(chooseMemoryTypes(heaps, none).of(MemoryKind::kDevice)),
            (std::vector<uint8_t>{0, 1}))
      << "without device-local types, every type serves as device memory";
}

TEST(MemoryTypes, BadTablesGiveEmptyLists) {
  const MemoryKindTable nothing = chooseMemoryTypes({}, {});
  for (const MemoryTypeList &list : nothing.kinds)
    EXPECT_EQ(list.count, 0u);
  const MemoryTypeInfo foreign[] = {type(3, "DVCH")};
  const MemoryHeapInfo heaps[] = {{kGiB, true}};
  for (const MemoryTypeList &list : chooseMemoryTypes(heaps, foreign).kinds)
    EXPECT_EQ(list.count, 0u) << "the type's heap does not exist";
  const std::vector<MemoryTypeInfo> many(40, type(0, "DVCH"));
  for (const MemoryTypeList &list : chooseMemoryTypes(heaps, many).kinds)
    EXPECT_EQ(list.count, kMaxMemoryTypes);
}

} // namespace
} // namespace gantry::device
