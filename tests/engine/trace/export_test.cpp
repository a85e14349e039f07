// Tests the export formats: a Python program parses each exported file and checks its contents.
#include "engine/trace/export/export.h"

#include "tests/engine/trace/random_events.h"
#include "tests/support/scratch.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

namespace {

using namespace gantry;
using namespace gantry::trace;
using namespace gantry::test;

class ExportTest : public testing::Test {
protected:
  void SetUp() override {
    auto writer = CaptureWriter::create(capture_);
    ASSERT_TRUE(writer.isOk());
    ProcessEvent process = makeEvent<ProcessEvent>(EventType::kProcess);
    process.processId = 42;
    process.name = (*writer)->name("a \"model\"");
    SlabEvent slab = makeEvent<SlabEvent>(EventType::kSlab);
    slab.header.heap = 1;
    slab.slab = 2;
    slab.sizeBytes = 1 << 30;
    HostEvent span = makeEvent<HostEvent>(EventType::kSpanBegin);
    span.header.thread = 1;
    span.header.timeNs = 100;
    span.name = (*writer)->name("step");
    for (const Event &event : {Event(process), Event(slab), Event(span)})
      ASSERT_TRUE((*writer)->append(event).isOk());
    std::mt19937_64 random(3);
    const std::vector<Event> life = heapLife(1001, random);
    ASSERT_TRUE((*writer)->append(life).isOk());
    // Two dispatches that overlap, and one that begins after the first has ended.
    RunEvent run = makeEvent<RunEvent>(EventType::kRun);
    run.run = 7;
    run.plan = 3;
    run.header.timeNs = 200'000'000;
    CommandEvent command = makeEvent<CommandEvent>(EventType::kCommand);
    command.plan = 3;
    command.name = (*writer)->name("Conv_0");
    command.header.timeNs = run.header.timeNs;
    ASSERT_TRUE((*writer)->append(Event(command)).isOk());
    ASSERT_TRUE((*writer)->append(Event(run)).isOk());
    for (const uint64_t begin : {1000, 1500, 2100}) {
      DispatchEvent dispatch = makeEvent<DispatchEvent>(EventType::kDispatch);
      dispatch.header.timeNs = 300'000'000;
      dispatch.run = 7;
      dispatch.device = 1;
      dispatch.gpu = {begin, begin + 1000};
      ASSERT_TRUE((*writer)->append(Event(dispatch)).isOk());
    }
    span.header.type = EventType::kSpanEnd;
    span.header.timeNs = 400'000'000;
    ASSERT_TRUE((*writer)->append(Event(span)).isOk());
    ASSERT_TRUE((*writer)->finish().isOk());
  }
  std::string exported(const std::string &format) {
    auto reader = CaptureReader::openFile(capture_);
    EXPECT_TRUE(reader.isOk());
    const auto known = exportFormatOf(format);
    EXPECT_TRUE(known.isOk());
    const std::string path = folder_.path(format);
    const Status status = exportCapture(**reader, *known, path);
    EXPECT_TRUE(status.isOk()) << status.message();
    return path;
  }
  /// Runs a Python program that checks the file at `path`. The program's sys.argv[1] is the path.
  static void expectPython(const std::string &program, const std::string &path) {
    const std::string command = "python3 -c '" + program + "' " + path;
    EXPECT_EQ(std::system(command.c_str()), 0) << program;
  }
  ScratchFolder folder_;
  std::string capture_ = folder_.path("a.gtrace");
};

TEST_F(ExportTest, CsvHasALineForEachEvent) {
  const std::vector<uint8_t> bytes = readBytes(exported("csv"));
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '\n'), 1 + 1001 + 9);
  expectPython("import csv, sys\n"
               "rows = list(csv.DictReader(open(sys.argv[1])))\n"
               "assert all(None not in row and None not in row.values() for row in rows)\n"
               "assert sum(row[\"type\"] == \"allocate\" for row in rows) > 400",
               folder_.path("csv"));
}

TEST_F(ExportTest, CsvNamesTheKindOfHeapTotals) {
  auto writer = CaptureWriter::create(capture_);
  ASSERT_TRUE(writer.isOk());
  HeapTotalsEvent totals = makeEvent<HeapTotalsEvent>(EventType::kHeapTotals);
  totals.liveBytes = 5;
  totals.reservedBytes = 9;
  totals.kind = 3;
  ASSERT_TRUE((*writer)->append(Event(totals)).isOk());
  ASSERT_TRUE((*writer)->finish().isOk());
  expectPython("import csv, sys\n"
               "[row] = csv.DictReader(open(sys.argv[1]))\n"
               "assert [row[name] for name in (\"type\", \"value\", \"used\", \"size\")] == "
               "[\"heap totals\", \"3\", \"5\", \"9\"]",
               exported("csv"));
}

TEST_F(ExportTest, ChromeJsonPlacesOverlappingDispatchesOnLanes) {
  expectPython("import json, sys\n"
               "events = json.load(open(sys.argv[1]))[\"traceEvents\"]\n"
               "conv = [e for e in events if e[\"ph\"] == \"X\" and e[\"name\"] == \"Conv_0\"]\n"
               "assert len(conv) == 3 and len({e[\"tid\"] for e in conv}) == 2\n"
               "assert conv[0][\"tid\"] == conv[2][\"tid\"] and conv[0][\"dur\"] == 1\n"
               "assert conv[0][\"ts\"] == 200000\n"
               "assert [e[\"dur\"] for e in events if e.get(\"name\") == \"step\"] == [399999.9]\n"
               "assert sum(e[\"ph\"] == \"C\" for e in events) == 1001",
               exported("chrome"));
}

TEST_F(ExportTest, PytorchSnapshotIsAPickleWithSegmentsAndTraces) {
  expectPython(
      "import pickle, sys\n"
      "snapshot = pickle.load(open(sys.argv[1], \"rb\"))\n"
      "trace = snapshot[\"device_traces\"][0]\n"
      "live = {}\n"
      "for t in trace:\n"
      "    if t[\"action\"] == \"alloc\": live[t[\"addr\"]] = t[\"size\"]\n"
      "    if t[\"action\"] == \"free_completed\": assert live.pop(t[\"addr\"]) == t[\"size\"]\n"
      "segment, = snapshot[\"segments\"]\n"
      "assert segment[\"total_size\"] == 1 << 30\n"
      "assert segment[\"allocated_size\"] == sum(live.values()) > 0\n"
      "assert sum(b[\"size\"] for b in segment[\"blocks\"]) == 1 << 30",
      exported("pytorch"));
}

// The program parses the protobuf wire format. Every field must lie inside its message and have one
// of the two wire types that the exporter writes.
TEST_F(ExportTest, PerfettoIsAListOfPackets) {
  expectPython(
      "import sys\n"
      "def fields(b):\n"
      "    i = 0\n"
      "    def varint():\n"
      "        nonlocal i\n"
      "        v = s = 0\n"
      "        while True:\n"
      "            c = b[i]; i += 1; v |= (c & 127) << s; s += 7\n"
      "            if c < 128: return v\n"
      "    while i < len(b):\n"
      "        k = varint()\n"
      "        if k & 7 == 0: yield k >> 3, varint()\n"
      "        else:\n"
      "            assert k & 7 == 2\n"
      "            n = varint(); assert i + n <= len(b); yield k >> 3, b[i:i + n]; i += n\n"
      "packets = [dict(fields(p)) for k, p in fields(open(sys.argv[1], \"rb\").read())]\n"
      "events = [dict(fields(p[11])) for p in packets if 11 in p]\n"
      "assert sum(e[9] == 1 for e in events) == sum(e[9] == 2 for e in events) == 4\n"
      "assert sum(e[9] == 4 for e in events) == 1001\n"
      "assert sum(e.get(23) == b\"Conv_0\" for e in events) == 3\n"
      "tracks = {dict(fields(p[60]))[1] for p in packets if 60 in p}\n"
      "assert all(e[11] in tracks for e in events)",
      exported("perfetto"));
}

// The events of block 2's release and of slab 2's end were lost; the snapshot shows that they are
// gone, and has block 3, whose allocation was lost. Then the heap is destroyed.
TEST_F(ExportTest, SnapshotsAndDestroyedHeapsReleaseBlocks) {
  for (const bool isDestroyed : {false, true}) {
    auto writer = CaptureWriter::create(capture_);
    ASSERT_TRUE(writer.isOk());
    uint64_t timeNs = 0;
    const auto add = [&](auto event) {
      event.header.heap = 1;
      event.header.timeNs = timeNs += 1000;
      ASSERT_TRUE((*writer)->append(Event(event)).isOk());
    };
    const auto addSlab = [&](EventType type, uint32_t number) {
      SlabEvent slab = makeEvent<SlabEvent>(type);
      slab.slab = number;
      slab.sizeBytes = 4096;
      add(slab);
    };
    const auto addBlock = [&](EventType type, uint64_t number, uint32_t slab, uint64_t offset) {
      BlockEvent block = makeEvent<BlockEvent>(type);
      block.block = number;
      block.slab = slab;
      block.offsetBytes = offset;
      block.sizeBytes = 256;
      add(block);
    };
    addSlab(EventType::kSlab, 1);
    addSlab(EventType::kSlab, 2);
    addBlock(EventType::kAllocate, 1, 1, 0);
    addBlock(EventType::kAllocate, 2, 2, 0);
    add(makeEvent<SnapshotEvent>(EventType::kSnapshotBegin));
    addSlab(EventType::kLiveSlab, 1);
    addBlock(EventType::kLiveBlock, 1, 1, 0);
    addBlock(EventType::kLiveBlock, 3, 1, 512);
    add(makeEvent<SnapshotEvent>(EventType::kSnapshotEnd));
    if (isDestroyed)
      add(makeEvent<HeapEvent>(EventType::kHeapEnd));
    ASSERT_TRUE((*writer)->finish().isOk());
    const std::string destroyed = isDestroyed ? "True" : "False";
    expectPython(
        "import pickle, sys\n"
        "snapshot = pickle.load(open(sys.argv[1], \"rb\"))\n"
        "segments = snapshot[\"segments\"]\n"
        "trace = snapshot[\"device_traces\"][0]\n"
        "count = lambda action: sum(t[\"action\"] == action for t in trace)\n"
        "destroyed = " +
            destroyed +
            "\n"
            "assert [s[\"allocated_size\"] for s in segments] == [] if destroyed else [512]\n"
            "assert count(\"alloc\") == 3 and count(\"segment_alloc\") == 2\n"
            "assert count(\"free_completed\") == (3 if destroyed else 1)\n"
            "assert count(\"segment_free\") == (2 if destroyed else 1)",
        exported("pytorch"));
    expectPython("import json, sys\n"
                 "events = json.load(open(sys.argv[1]))[\"traceEvents\"]\n"
                 "live = [list(e[\"args\"].values())[0] for e in events if e[\"ph\"] == \"C\"]\n"
                 "assert live == [256, 512, 512] + ([0] if " +
                     destroyed + " else []), live",
                 exported("chrome"));
  }
}

TEST_F(ExportTest, PytorchSlabsWithoutAddressesGetDifferentAddresses) {
  auto writer = CaptureWriter::create(capture_);
  ASSERT_TRUE(writer.isOk());
  for (const uint16_t heap : {1, 257})
    for (const uint32_t number : {0U, 65535U, 65536U}) {
      SlabEvent slab = makeEvent<SlabEvent>(EventType::kSlab);
      slab.header.heap = heap;
      slab.slab = number;
      slab.sizeBytes = 4096;
      ASSERT_TRUE((*writer)->append(Event(slab)).isOk());
    }
  ASSERT_TRUE((*writer)->finish().isOk());
  expectPython("import pickle, sys\n"
               "segments = pickle.load(open(sys.argv[1], \"rb\"))[\"segments\"]\n"
               "assert len({s[\"address\"] for s in segments}) == 6, segments",
               exported("pytorch"));
}

// A capture with events of all types, with random fields and in random order, as a damaged file may
// have them.
TEST_F(ExportTest, EveryFormatTakesEventsOfAllTypes) {
  auto writer = CaptureWriter::create(capture_);
  ASSERT_TRUE(writer.isOk());
  for (const char *name : {"a", "b,c", "quoted \"d\"", "e"})
    (*writer)->name(name);
  std::mt19937_64 random(5);
  std::vector<EventType> types = allEventTypes();
  size_t count = 0;
  for (int round = 0; round < 30; ++round) {
    std::shuffle(types.begin(), types.end(), random);
    for (const EventType type : types) {
      ASSERT_TRUE((*writer)->append(randomEvent(type, random)).isOk());
      ++count;
    }
  }
  ASSERT_TRUE((*writer)->finish().isOk());
  const std::vector<uint8_t> csv = readBytes(exported("csv"));
  EXPECT_EQ(static_cast<size_t>(std::count(csv.begin(), csv.end(), '\n')), 1 + count);
  expectPython("import csv, sys\n"
               "rows = list(csv.DictReader(open(sys.argv[1])))\n"
               "assert all(None not in row and None not in row.values() for row in rows)\n"
               "assert \"b,c\" in {row[\"name\"] for row in rows}",
               folder_.path("csv"));
  expectPython("import json, sys\njson.load(open(sys.argv[1]))[\"traceEvents\"]",
               exported("chrome"));
  expectPython("import pickle, sys\npickle.load(open(sys.argv[1], \"rb\"))[\"segments\"]",
               exported("pytorch"));
  EXPECT_FALSE(readBytes(exported("perfetto")).empty());
}

TEST_F(ExportTest, UnknownFormatsAndPathsAreRefused) {
  const auto format = exportFormatOf("svg");
  ASSERT_FALSE(format.isOk());
  EXPECT_NE(format.status().message().find("perfetto"), std::string::npos);
  auto reader = CaptureReader::openFile(capture_);
  ASSERT_TRUE(reader.isOk());
  EXPECT_EQ(exportCapture(**reader, ExportFormat::kCsv, folder_.path("no/file")).code(),
            StatusCode::kNotFound);
}

} // namespace
