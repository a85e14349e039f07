// Tests of the functions of compiler.h with NULL arguments, without threads and without memory.
//
//   compiler_fault_test null HEADER
//     Passes NULL for each pointer argument, and checks that this test calls every function of
//     HEADER (compiler.h).
//   compiler_fault_test threads
//     Limits the user to 1 to 12 threads (RLIMIT_NPROC).
//   compiler_fault_test address-space
//     Limits the address space to 0 to 256 MiB more than is in use (RLIMIT_AS).
//   compiler_fault_test malloc COUNT
//     Compiles a small model COUNT times, each time in a child process in which another allocation
//     fails. These allocations are spread evenly over the compilation.
//   compiler_fault_test malloc-at K
//     Makes allocation K fail in this process, for a debugger.
//
// The malloc modes need failing_malloc.c in LD_PRELOAD. In all modes but null and malloc-at, each
// compilation runs in a child process. The child must return a result, or end with the message of
// endWithoutMemory() (codegen/compiler_threads.h) or in code of MLIR and glibc that does not check
// for memory (see judge()). Afterwards the output folder must hold the previous file or the
// complete new one, and nothing else.
#include "tests/support/death_site.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/onnx_model.h"
#include "tests/support/scratch.h"

#include <gantry/compiler.h>

#include <filesystem>
#include <grp.h>
#include <regex>
#include <set>
#include <sys/stat.h>

namespace {

using namespace gantry::test;

constexpr const char *kFormer = "the file that was there before";

/// The compiler's input files, and the folder that it writes to.
class Folder {
public:
  Folder() {
    chmod(scratch_.path("").c_str(), 0755);
    model = scratch_.path("model.onnx");
    tensor = scratch_.path("tensor.pb");
    outputs = scratch_.path("out");
    output = outputs + "/model.gantry";
    OnnxModel small;
    small.input("x", {"4"});
    small.floats("w", {4}, {1, 2, 3, 4});
    small.node("Add", {"x", "w"}, {"y"}, "Add_0");
    small.output("y", {"4"});
    std::ofstream(model, std::ios::binary) << small.model.SerializeAsString();
    onnx::TensorProto proto;
    proto.set_data_type(onnx::TensorProto::FLOAT);
    proto.add_dims(1);
    proto.add_float_data(1);
    proto.set_name("t");
    std::ofstream(tensor, std::ios::binary) << proto.SerializeAsString();
    std::filesystem::create_directory(outputs);
    chmod(outputs.c_str(), 0777);
  }
  void restore() const { std::ofstream(output, std::ios::binary) << kFormer; }
  /// Returns the number of files in the output folder.
  size_t count() const {
    size_t files = 0;
    for ([[maybe_unused]] const auto &file : std::filesystem::directory_iterator(outputs))
      ++files;
    return files;
  }
  std::string content() const {
    const std::vector<uint8_t> bytes = readBytes(output);
    return {bytes.begin(), bytes.end()};
  }

  std::string model, tensor, outputs, output;

private:
  ScratchFolder scratch_;
};

char lastMessage[512] = "";
void keepMessage(void *, int severity, const char *message) {
  if (severity == 0)
    std::snprintf(lastMessage, sizeof(lastMessage), "%s", message);
}

/// The result of a compilation and the exit code of its child. kSilent: an error without a message.
enum Outcome { kOk = 0, kRefused = 1, kSilent = 2 };

Outcome compile(const Folder &folder) {
  gantry_compile_options_t options = {};
  options.struct_size = sizeof(options);
  options.diagnostic = keepMessage;
  lastMessage[0] = '\0';
  if (gantry_compile(folder.model.c_str(), folder.output.c_str(), &options) == GANTRY_COMPILE_OK)
    return kOk;
  return lastMessage[0] == '\0' ? kSilent : kRefused;
}

Outcome readTensor(const Folder &folder) {
  int32_t type = 0;
  uint32_t rank = 0;
  int64_t dims[8];
  void *data = nullptr;
  size_t bytes = 0;
  char *name = nullptr;
  lastMessage[0] = '\0';
  const auto result = gantry_read_tensor_proto(folder.tensor.c_str(), &type, &rank, dims, &data,
                                               &bytes, &name, keepMessage, nullptr);
  if (result != GANTRY_COMPILE_OK)
    return lastMessage[0] == '\0' ? kSilent : kRefused;
  std::free(data);
  std::free(name);
  return kOk;
}

int failures = 0;

/// Prints and counts a failure unless `holds`. number: the case, which is the limit, the allocation
/// or the argument; 0 where there is only one case.
void expect(bool holds, const std::string &what, unsigned long long number) {
  if (holds)
    return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s (case %llu)\n", what.c_str(), number);
}

/// Returns whether a child died in MLIR because malloc returned null. MLIR does not check the
/// result of malloc when it creates tables of interfaces, operations and operands. MLIR's headers
/// compile parts of this code into libgantry_compiler; Gantry's own code allocates with operator
/// new.
bool isUncheckedMalloc(const std::string &place) {
  return place.starts_with("SIGSEGV (through a null pointer) in lib") &&
         (place.find(" in libMLIR.so") != std::string::npos ||
          place.find(" in libgantry_compiler.so") != std::string::npos);
}

/// Checks how a child ended, and which files it left.
void judge(const Folder &folder, const Death &death, const std::string &complete,
           unsigned long long number) {
  const bool isListed =
      death.lastLine.find("the host has no memory left to compile") != std::string::npos ||
      death.lastLine.find("glibc error: failed to register TLS destructor") != std::string::npos ||
      isUncheckedMalloc(death.place);
  expect(death.isAlive || isListed, "the child ended: " + death.place + ": " + death.lastLine,
         number);
  expect(!death.isAlive || death.code != kSilent, "a failure without a message", number);
  const std::string content = folder.content();
  expect(content == complete || content == kFormer,
         "the output is neither the previous nor the complete new file", number);
  expect(folder.count() == 1, "files were left behind", number);
  expect(!death.isAlive || death.code != kOk || content == complete,
         "success without the complete output", number);
  if (content != kFormer || folder.count() != 1) {
    std::filesystem::remove_all(folder.outputs);
    std::filesystem::create_directory(folder.outputs);
    chmod(folder.outputs.c_str(), 0777);
    folder.restore();
  }
}

void checkNulls(const Folder &folder, const char *header) {
  std::set<std::string> called = {"gantry_compile", "gantry_read_tensor_proto",
                                  "gantry_compile_profiles", "gantry_compile_operators",
                                  "gantry_compiler_identity"};
  const char *model = folder.model.c_str(), *output = folder.output.c_str();
  gantry_compile_options_t options = {};
  options.struct_size = sizeof(options);
  options.diagnostic = keepMessage;
  expect(gantry_compile(nullptr, output, &options) == GANTRY_COMPILE_BAD_INPUT, "a NULL model", 0);
  expect(std::strstr(lastMessage, "model must not be NULL") != nullptr, lastMessage, 0);
  expect(gantry_compile(model, nullptr, &options) == GANTRY_COMPILE_BAD_INPUT, "a NULL output", 0);
  expect(std::strstr(lastMessage, "output must not be NULL") != nullptr, lastMessage, 0);
  expect(gantry_compile(model, output, nullptr) == GANTRY_COMPILE_OK, "NULL options", 0);
  // The lengths of arrays that are NULL have no effect.
  options.dim_count = options.donated_count = options.native_chip_count = 3;
  expect(gantry_compile(model, output, &options) == GANTRY_COMPILE_OK, lastMessage, 0);
  for (int null = -1; null < 8; ++null) {
    int32_t type;
    uint32_t rank;
    int64_t dims[8];
    void *data = nullptr;
    size_t bytes;
    char *name = nullptr;
    const auto given = [&](int index, auto *pointer) { return index == null ? nullptr : pointer; };
    const auto result =
        gantry_read_tensor_proto(given(0, folder.tensor.c_str()), given(1, &type), given(2, &rank),
                                 given(3, &dims[0]), given(4, &data), given(5, &bytes),
                                 given(6, &name), null == 7 ? nullptr : keepMessage, nullptr);
    const bool isAllowed = null == -1 || null >= 6;
    expect(result == (isAllowed ? GANTRY_COMPILE_OK : GANTRY_COMPILE_BAD_INPUT),
           "gantry_read_tensor_proto with NULL", static_cast<unsigned long long>(null));
    std::free(data);
    std::free(name);
  }
  expect(gantry_compile_profiles()[0] != '\0' && gantry_compile_operators()[0] != '\0', "lists", 0);
  expect(gantry_compiler_identity() != nullptr, "a NULL identity", 0);
  const std::vector<uint8_t> bytes = readBytes(header);
  const std::string text(bytes.begin(), bytes.end());
  const std::regex declaration(R"(GANTRY_COMPILER_API\s[^;(]*?\b(gantry_\w+)\()");
  size_t declared = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) {
    ++declared;
    expect(called.contains((*at)[1]), "this test does not call " + (*at)[1].str(), declared);
  }
  expect(declared >= called.size(), "too few declarations of compiler.h found", declared);
}

/// For each value, compiles the model and reads a tensor in a child process after limit(value).
template <typename Limit>
void runLimited(const Folder &folder, const std::string &complete, const char *title,
                std::initializer_list<uint64_t> values, Limit &&limit) {
  DeathCounts deaths;
  for (const uint64_t value : values) {
    const Death death = runToDeath([&] {
      if (!limit(value))
        return 9;
      return static_cast<int>(std::max(compile(folder), readTensor(folder)));
    });
    expect(!death.isAlive || death.code != 9, "the limit could not be set", value);
    deaths.add(death);
    judge(folder, death, complete, value);
  }
  std::printf("%s:\n", title);
  deaths.print();
}

bool limitThreads(uint64_t threads) {
  const auto user = static_cast<uid_t>(100000 + getpid()); // This user has no other processes.
  const rlimit limit = {threads, threads};
  return setgroups(0, nullptr) == 0 && setgid(user) == 0 && setuid(user) == 0 &&
         setrlimit(RLIMIT_NPROC, &limit) == 0;
}

bool limitAddressSpace(uint64_t mebibytes) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit = {pages * static_cast<uint64_t>(getpagesize()) + (mebibytes << 20),
                        RLIM_INFINITY};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

int failMalloc(const Folder &folder, const std::string &complete, unsigned long long samples) {
  const auto start =
      reinterpret_cast<void (*)(FailingMallocPlan)>(dlsym(RTLD_DEFAULT, "failingMallocStart"));
  const auto counts =
      reinterpret_cast<FailingMallocCounts (*)()>(dlsym(RTLD_DEFAULT, "failingMallocCounts"));
  const auto stop = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "failingMallocStop"));
  if (start == nullptr || counts == nullptr || stop == nullptr) {
    std::fprintf(stderr, "run it with LD_PRELOAD=libfailing_malloc.so\n");
    return 1;
  }
  start({});
  expect(compile(folder) == kOk, lastMessage, 0);
  stop();
  const unsigned long long calls = counts().otherCalls;
  folder.restore();
  DeathCounts deaths;
  for (unsigned long long i = 0; i < samples; ++i) {
    const unsigned long long k = 1 + i * calls / samples;
    const Death death = runToDeath([&] {
      start({0, k, 0});
      const Outcome outcome = compile(folder);
      stop();
      return static_cast<int>(outcome);
    });
    deaths.add(death);
    judge(folder, death, complete, k);
  }
  std::printf("%llu of the %llu allocations of a compilation failed:\n", samples, calls);
  deaths.print();
  return failures != 0;
}

} // namespace

int main(int argc, char **argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const Folder folder;
  // This compilation initializes the objects that live until the process ends.
  if (compile(folder) != kOk || readTensor(folder) != kOk) {
    std::fprintf(stderr, "the small model cannot be compiled: %s\n", lastMessage);
    return 1;
  }
  const std::string complete = folder.content();
  folder.restore();
  if (mode == "null" && argc == 3) {
    checkNulls(folder, argv[2]);
  } else if (mode == "threads" && geteuid() != 0) {
    std::printf("skipped: only root can become a user without other processes\n");
  } else if (mode == "threads") {
    runLimited(folder, complete, "ulimit -u 1 to 12", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
               limitThreads);
  } else if (mode == "address-space") {
    runLimited(folder, complete, "ulimit -v, 0 to 256 MiB above what the program has",
               {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 60, 64, 68, 72, 96, 128, 192, 256},
               limitAddressSpace);
  } else if (mode == "malloc" && argc == 3) {
    return failMalloc(folder, complete, std::strtoull(argv[2], nullptr, 10));
  } else if (mode == "malloc-at" && argc == 3) {
    const auto start =
        reinterpret_cast<void (*)(FailingMallocPlan)>(dlsym(RTLD_DEFAULT, "failingMallocStart"));
    expect(start != nullptr, "LD_PRELOAD=libfailing_malloc.so is missing", 0);
    if (start != nullptr) {
      start({0, std::strtoull(argv[2], nullptr, 10), 0});
      std::printf("outcome %d: %s\n", compile(folder), lastMessage);
    }
  } else {
    std::fprintf(stderr, "compiler_fault_test null HEADER, threads, address-space, malloc COUNT, "
                         "malloc-at K\n");
    return 1;
  }
  return failures != 0;
}
