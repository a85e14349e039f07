// Tests the tool's file access: sets of output files, interrupts, file names, folders of traced
// tensors, terminal output, and the parsing of program descriptions.
#include "tools/gantry/io/file.h"

#include "tools/gantry/io/description.h"
#include "tools/gantry/error.h"
#include "tools/gantry/interrupt.h"
#include "tools/gantry/report/terminal.h"
#include "tools/gantry/io/trace_folder.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace gantry::tool {
namespace {

class Folder : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "gantry-files-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }
  size_t countFiles() const {
    return static_cast<size_t>(std::distance(fs::recursive_directory_iterator(root_), {}));
  }
  std::string read(const fs::path &path) const {
    std::vector<uint8_t> bytes = readFile(path);
    return {bytes.begin(), bytes.end()};
  }
  fs::path root_;
};

using Files = Folder;
using Traces = Folder;

TEST_F(Files, AnInterruptDeletesIncompleteFiles) {
  for (const int ending : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = fork();
    if (child == 0) {
      handleInterrupts();
      FileSet files;
      files.add(root_ / "a.npy", std::string_view("half of it"));
      const fs::path folder = root_ / "temporary";
      const DeletedOnInterrupt interrupted(folder.string());
      fs::create_directory(folder);
      std::ofstream(folder / "b") << "a file of a temporary folder";
      ::raise(ending);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), ending) << "the process must end with the signal";
    EXPECT_EQ(countFiles(), 0u);
  }
}

template <typename F> ExitCode codeOf(F action) {
  try {
    action();
  } catch (const ToolError &error) {
    return error.code();
  }
  return ExitCode::kOk;
}

TEST_F(Files, AppearTogetherOrNotAtAll) {
  std::ofstream(root_ / "old") << "old";
  {
    FileSet files;
    files.addFolder(root_ / "a/b");
    files.add(root_ / "a/b/new", std::string_view("new"));
    files.add(root_ / "old", std::string_view("other"));
    EXPECT_FALSE(fs::exists(root_ / "a/b/new"));
    EXPECT_EQ(read(root_ / "old"), "old");
  } // The set is destroyed without commit().
  EXPECT_EQ(countFiles(), 1u);
  EXPECT_EQ(read(root_ / "old"), "old");
  FileSet files;
  files.addFolder(root_ / "a/b");
  files.add(root_ / "a/b/new", std::string_view("new"));
  files.add(root_ / "old", std::string_view("other"));
  files.commit();
  EXPECT_EQ(read(root_ / "a/b/new"), "new");
  EXPECT_EQ(read(root_ / "old"), "other");
  EXPECT_EQ(countFiles(), 4u);
}

TEST_F(Files, FullDeviceIsAnIoErrorAndStaysADevice) {
  FileSet files;
  EXPECT_EQ(codeOf([&] {
              files.add("/dev/full", std::string_view("x"));
              files.commit();
            }),
            ExitCode::kIo);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Files, MissingAndWrongFilesHaveDocumentedExitCodes) {
  EXPECT_EQ(codeOf([&] { readFile(root_ / "none"); }), ExitCode::kBadInput);
  EXPECT_EQ(codeOf([&] { readFile(root_); }), ExitCode::kBadInput);
  EXPECT_EQ(codeOf([&] { readFile("/dev/zero"); }), ExitCode::kBadInput);
  FileSet files;
  EXPECT_EQ(codeOf([&] { files.add(root_ / "none/x", std::string_view("x")); }), ExitCode::kIo);
  EXPECT_EQ(codeOf([&] { files.add(root_, std::string_view("x")); }), ExitCode::kBadInput);
  std::ofstream(root_ / "file") << "x";
  EXPECT_EQ(codeOf([&] { files.addFolder(root_ / "file"); }), ExitCode::kBadInput);
}

TEST(FileNames, AreHarmless) {
  EXPECT_EQ(sanitiseFileName("/features/0/Conv:0"), "features_0_Conv_0");
  EXPECT_EQ(sanitiseFileName("../../etc/passwd"), "etc_passwd");
  EXPECT_EQ(sanitiseFileName(""), "tensor");
  EXPECT_EQ(sanitiseFileName("..."), "tensor");
  EXPECT_LE(sanitiseFileName(std::string(500, 'a')).size(), 126u);
}

TEST_F(Traces, DiffFindsTheFirstTensorThatDiverges) {
  auto write = [&](const char *folder, float second, float third) {
    TraceWriter trace(root_ / folder, "m.onnx", "device");
    for (auto [name, value] : {std::pair("/a/b", 1.0f), {"a_b", second}, {"/c:0", third}}) {
      Tensor tensor{GANTRY_TYPE_F32, {1}, std::vector<uint8_t>(4)};
      setElement(tensor, 0, value);
      trace.add(name, std::string("op of ") + name, tensor);
    }
    trace.finish();
  };
  write("a", 2, 3);
  write("b", 2, 4);
  write("c", 5, 6);
  TraceFolder a(root_ / "a"), b(root_ / "b"), c(root_ / "c");
  ASSERT_EQ(a.entries().size(), 3u);
  EXPECT_NE(a.find("/a/b"), a.find("a_b")); // Both names give the file name a_b.
  TraceDiff same = diffTraces(a, a, {});
  for (const TraceDifference &d : same.compared)
    EXPECT_TRUE(d.comparison.within);
  auto first = [](const TraceDiff &diff) -> std::string {
    for (const TraceDifference &d : diff.compared)
      if (!d.comparison.within)
        return d.entry.name;
    return "";
  };
  EXPECT_EQ(first(diffTraces(a, b, {})), "/c:0");
  EXPECT_EQ(first(diffTraces(a, c, {})), "a_b");

  // A folder without an index is compared by file names, which are made from tensor names.
  fs::create_directory(root_ / "plain");
  fs::copy(a.find("/c:0"), root_ / "plain/c_0.npy");
  TraceFolder plain(root_ / "plain");
  TraceDiff partial = diffTraces(b, plain, {});
  ASSERT_EQ(partial.compared.size(), 1u);
  EXPECT_EQ(partial.onlyInA.size(), 2u);
  EXPECT_EQ(first(partial), "/c:0");
  EXPECT_EQ(first(diffTraces(plain, b, {})), "/c:0");
  EXPECT_EQ(codeOf([&] { diffTraces(plain, plain, {}); }), ExitCode::kBadInput);
}

TEST_F(Traces, DamagedIndexIsRefused) {
  EXPECT_EQ(codeOf([&] { TraceFolder(root_ / "none"); }), ExitCode::kBadInput);
  for (const char *text :
       {"", "{", "[]", "{\"format\": \"x\"}",
        "{\"format\": \"gantry-trace\", \"version\": 2, \"tensors\": []}",
        "{\"format\": \"gantry-trace\", \"version\": 1, \"tensors\": [{\"name\": 1}]}",
        "{\"format\": \"gantry-trace\", \"version\": 1, \"tensors\": "
        "[{\"name\": \"a\", \"file\": \"../x.npy\", \"order\": 0}]}"}) {
    std::ofstream(root_ / "index.json") << text;
    EXPECT_EQ(codeOf([&] { TraceFolder trace(root_); }), ExitCode::kBadInput) << text;
  }
}

TEST(Terminal, HumanNumbers) {
  EXPECT_EQ(humanBytes(0), "0 B");
  EXPECT_EQ(humanBytes(1023), "1023 B");
  EXPECT_EQ(humanBytes(1024), "1.00 KiB");
  EXPECT_EQ(humanBytes(1536 * 1024), "1.50 MiB");
  EXPECT_EQ(humanBytes(1048575), "1.00 MiB");
  EXPECT_EQ(humanBytes(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(humanTime(850), "850 ns");
  EXPECT_EQ(humanTime(12345), "12.3 µs");
  EXPECT_EQ(humanTime(4.56e6), "4.56 ms");
  EXPECT_EQ(humanTime(999.6e6), "1.00 s");
  EXPECT_EQ(humanCount(950), "950");
  EXPECT_EQ(humanCount(1.234e9), "1.23 G");
}

TEST(Terminal, ControlCharactersInForeignTextAreReplaced) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\x7f"), "a?[31mb c?");
  EXPECT_EQ(printable("\xC2\x9b"), "??");
  EXPECT_EQ(printable("µ…"), "µ…");
}

TEST(Terminal, TablesAlign) {
  Table table({{"name"}, {"n", Table::Align::kRight}});
  table.addRow({"µ", "1"});
  table.addRow({"abc", "22"});
  EXPECT_EQ(table.format(false, 0, 0), "name   n\nµ      1\nabc   22\n");
  Table narrow({{"name", Table::Align::kLeft, true}, {"n"}});
  narrow.addRow({std::string(100, 'x'), "1"});
  std::string text = narrow.format(false, 40, 2);
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    EXPECT_LE(displayWidth(text.substr(at, end - at)), 40u);
  }
  EXPECT_NE(text.find("…"), std::string::npos);
}

TEST(Description, ReadsAValidDescriptionAndRefusesOthers) {
  Description plan = parseDescription(R"({
    "source": "m.onnx", "dynamic": true, "symbols": [{"name": "batch"}], "kernels": [{}, {}],
    "arena_bytes": 768, "lower_bound_bytes": 512, "peak_command": 1, "constant_bytes": 64,
    "values": [
      {"name": "x", "storage": "input", "type": "f32", "dims": ["batch", 3], "size_bytes": "12*batch"},
      {"name": "a", "storage": "transient", "type": "f32", "dims": [4], "size_bytes": 16,
       "offset": 0, "first_use": 0, "last_use": 1, "slot": 0, "op": "Conv_0"},
      {"name": "b", "storage": "transient", "type": "f32", "dims": [8], "size_bytes": 32,
       "offset": 256, "first_use": 1, "last_use": 2, "slot": 1},
      {"name": "c", "storage": "transient", "type": "f32", "dims": [8], "size_bytes": 32,
       "offset": 0, "first_use": 2, "last_use": 2, "slot": 2}],
    "commands": [{"name": "Conv_0", "kind": "dispatch", "workgroups": [1, 2, 3], "flops": 5,
                  "bytes": 6, "shared_bytes": 128, "barrier_before": true}]})");
  EXPECT_EQ(plan.kernelCount, 2u);
  EXPECT_EQ(plan.symbols[0].name, "batch");
  EXPECT_EQ(dimsText(plan.values[0]), "batchx3");
  EXPECT_FALSE(plan.values[0].sizeBytes);
  EXPECT_EQ(plan.commands[0].workgroups, "1x2x3");
  EXPECT_EQ(plan.commands[0].sharedBytes, 128u);
  EXPECT_TRUE(plan.planned());
  EXPECT_DOUBLE_EQ(planRatio(plan), 1.5);
  std::vector<size_t> alive = aliveAt(plan, 1);
  EXPECT_EQ(alive, (std::vector<size_t>{2, 1})); // In descending order of size.
  for (const char *text : {"", "[", "{\"values\": [3]}", "{\"dynamic\": 7}"})
    EXPECT_EQ(codeOf([&] { parseDescription(text); }), ExitCode::kInternal) << text;
}

} // namespace
} // namespace gantry::tool
