// Tests MappedFile, AtomicFile and the cache folder, also with a full disk, a size limit, symbolic
// links and a killed writer.
#include "engine/base/file.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gantry {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "gantry-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const char *name) const { return (directory_ / name).string(); }
  size_t fileCount() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  static std::string contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path directory_;
};

TEST_F(FileTest, AKilledWriterLeavesNothing) {
  const pid_t child = fork();
  if (child == 0) {
    auto file = AtomicFile::create(path("a"));
    const bool written = file.isOk() && file->write(std::string(100'000, 'x')).isOk();
    ::kill(::getpid(), written ? SIGKILL : SIGTERM);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  const int unnamed = ::open(directory_.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
  if (unnamed < 0)
    GTEST_SKIP() << "the file system of " << directory_ << " has no files without names";
  ::close(unnamed);
  EXPECT_EQ(fileCount(), 0u);
}

TEST_F(FileTest, AWrittenFileIsMappedWithItsContents) {
  const std::string text("some bytes\0and more", 19);
  ASSERT_TRUE(writeFileAtomically(path("a"), text).isOk());
  const Result<MappedFile> file = MappedFile::open(path("a"));
  ASSERT_TRUE(file.isOk()) << file.status().message();
  EXPECT_EQ(std::string(file->bytes().begin(), file->bytes().end()), text);
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileTest, AnEmptyFileMapsToNothing) {
  ASSERT_TRUE(writeFileAtomically(path("a"), std::string()).isOk());
  const Result<MappedFile> file = MappedFile::open(path("a"));
  ASSERT_TRUE(file.isOk());
  EXPECT_TRUE(file->bytes().empty());
}

TEST_F(FileTest, AMovedMappingStaysMapped) {
  ASSERT_TRUE(writeFileAtomically(path("a"), std::string("abc")).isOk());
  Result<MappedFile> opened = MappedFile::open(path("a"));
  ASSERT_TRUE(opened.isOk());
  MappedFile first = opened.take();
  MappedFile second = std::move(first);
  EXPECT_TRUE(first.bytes().empty());
  EXPECT_EQ(second.bytes().size(), 3u);
}

TEST_F(FileTest, AFailedOpenNamesTheCause) {
  const Result<MappedFile> absent = MappedFile::open(path("absent"));
  ASSERT_FALSE(absent.isOk());
  EXPECT_EQ(absent.status().code(), StatusCode::kNotFound);
  EXPECT_NE(absent.status().message().find(path("absent")), std::string::npos);
  const Result<MappedFile> folder = MappedFile::open(directory_.string());
  ASSERT_FALSE(folder.isOk());
  EXPECT_NE(folder.status().message().find("a folder"), std::string::npos);
  const Result<MappedFile> device = MappedFile::open("/dev/null");
  ASSERT_FALSE(device.isOk());
  EXPECT_EQ(device.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(FileTest, WithoutCommitTheOldContentsStay) {
  ASSERT_TRUE(writeFileAtomically(path("a"), std::string("old")).isOk());
  {
    Result<AtomicFile> file = AtomicFile::create(path("a"));
    ASSERT_TRUE(file.isOk());
    ASSERT_TRUE(file->write(std::string("new")).isOk());
  }
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(FileTest, AnAbsentFolderIsNamed) {
  const Status status = writeFileAtomically(path("no/such/a"), std::string("x"));
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("no/such does not exist"), std::string::npos) << status.message();
}

TEST_F(FileTest, AFolderIsNotWritten) {
  const Status status = writeFileAtomically(directory_.string(), std::string("x"));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
}

TEST_F(FileTest, AFullDiskIsAnError) {
  if (access("/dev/full", W_OK) != 0)
    GTEST_SKIP() << "/dev/full is absent";
  const Status status = writeFileAtomically("/dev/full", std::string("x"));
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_EQ(status.message(), "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full")) << "the device was replaced";
}

TEST_F(FileTest, AFileTooLargeLeavesNothing) {
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  rlimit small = old;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = writeFileAtomically(path("a"), std::string(5000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("File too large"), std::string::npos) << status.message();
  EXPECT_EQ(fileCount(), 0u);
}

TEST_F(FileTest, AfterAFailedWriteNothingIsCommitted) {
  if (access("/dev/full", W_OK) != 0)
    GTEST_SKIP() << "/dev/full is absent";
  Result<AtomicFile> file = AtomicFile::create("/dev/full");
  ASSERT_TRUE(file.isOk());
  EXPECT_FALSE(file->write(std::string("x")).isOk());
  EXPECT_EQ(file->write(std::string("x")).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(file->commit().code(), StatusCode::kFailedPrecondition);
}

TEST_F(FileTest, ALinkIsFollowed) {
  ASSERT_TRUE(writeFileAtomically(path("target"), std::string("old")).isOk());
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(writeFileAtomically(path("link"), std::string("new")).isOk());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("target")), "new");
}

TEST_F(FileTest, TheCacheFolderFollowsTheEnvironment) {
  const char *oldCache = getenv("XDG_CACHE_HOME");
  const char *oldHome = getenv("HOME");
  const std::string savedCache = oldCache ? oldCache : "";
  const std::string savedHome = oldHome ? oldHome : "";

  const char *oldOwn = getenv("GANTRY_CACHE_DIR");
  const std::string savedOwn = oldOwn ? oldOwn : "";

  setenv("XDG_CACHE_HOME", path("x/cache").c_str(), 1);
  setenv("GANTRY_CACHE_DIR", path("own").c_str(), 1);
  const Result<std::string> fromOwn = userCacheDirectory();
  unsetenv("GANTRY_CACHE_DIR");
  const Result<std::string> fromCache = userCacheDirectory();
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", path("home").c_str(), 1);
  const Result<std::string> fromHome = userCacheDirectory();
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  const Result<std::string> none = userCacheDirectory();

  if (oldOwn)
    setenv("GANTRY_CACHE_DIR", savedOwn.c_str(), 1);
  if (oldCache)
    setenv("XDG_CACHE_HOME", savedCache.c_str(), 1);
  if (oldHome)
    setenv("HOME", savedHome.c_str(), 1);

  ASSERT_TRUE(fromOwn.isOk());
  EXPECT_EQ(*fromOwn, path("own"));
  ASSERT_TRUE(fromCache.isOk()) << fromCache.status().message();
  EXPECT_EQ(*fromCache, path("x/cache/gantry"));
  EXPECT_TRUE(fs::is_directory(*fromCache));
  ASSERT_TRUE(fromHome.isOk()) << fromHome.status().message();
  EXPECT_EQ(*fromHome, path("home/.cache/gantry"));
  ASSERT_FALSE(none.isOk());
  EXPECT_EQ(none.status().code(), StatusCode::kNotFound);
}

} // namespace
} // namespace gantry
