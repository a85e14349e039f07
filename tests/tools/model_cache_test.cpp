// Tests the keys by which the cache of compiled models finds an artifact (model_cache.h), and
// UnnamedFile, a file that is deleted unless it is given a name. cache_test.py tests the cache
// through the tool.
#include "tests/support/scratch.h"
#include "tools/gantry/cache/model_cache.h"

#include <gtest/gtest.h>

namespace gantry::tool {
namespace {

TEST(ModelCache, KeysDependOnTheModelTheOptionsAndTheBuild) {
  const test::ScratchFolder folder;
  test::writeBytes(folder.path("a.onnx"), {1, 2, 3});
  test::writeBytes(folder.path("b.onnx"), {1, 2, 3});
  const auto keyOf = [](const ModelCache::Request &request) {
    auto key = ModelCache::keyOf(request);
    EXPECT_TRUE(key.isOk());
    return key.take();
  };
  const ModelCache::Request request{folder.path("a.onnx"), "-p vulkan:generic ", "build 1"};
  const std::string key = keyOf(request);
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(keyOf(request), key);
  EXPECT_NE(keyOf({folder.path("a.onnx"), "-p vulkan:generic ", "build 2"}), key);
  EXPECT_NE(keyOf({folder.path("a.onnx"), "-p vulkan:lavapipe ", "build 1"}), key);
  EXPECT_NE(keyOf({folder.path("b.onnx"), "-p vulkan:generic ", "build 1"}), key);
  EXPECT_NE(keyOf({folder.path("a.onnx"), "build 1", "-p vulkan:generic "}), key);
  test::writeBytes(folder.path("a.onnx"), {1, 2, 4});
  EXPECT_NE(keyOf(request), key);
  EXPECT_FALSE(ModelCache::keyOf({folder.path("absent"), "", ""}).isOk());
}

TEST(UnnamedFile, LeavesNothingUnlessItIsNamed) {
  const test::ScratchFolder folder;
  {
    auto file = UnnamedFile::in(folder.path(""));
    ASSERT_TRUE(file.isOk()) << file.status().message();
    ASSERT_TRUE(file->write("text").isOk());
    EXPECT_EQ(test::readBytes(file->path()).size(), 4u);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("")));
    ASSERT_TRUE(file->link(folder.path("named")).isOk());
    EXPECT_TRUE(file->link(folder.path("named")).isOk()) << "an existing name is no error";
    EXPECT_FALSE(file->link(folder.path("no/folder")).isOk());
  }
  EXPECT_EQ(test::readBytes(folder.path("named")).size(), 4u);
  EXPECT_FALSE(UnnamedFile::in(folder.path("nosuch")).isOk());
}

} // namespace
} // namespace gantry::tool
