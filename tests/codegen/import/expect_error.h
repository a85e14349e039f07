// What a test says of a model that must be refused: one error of one line, with these words.
#pragma once

#include "tests/codegen/import/model_builder.h"

#include <gtest/gtest.h>

namespace gantry::importer::test {

inline void expectError(const std::string &path, const std::string &words,
                        ImportKind kind = ImportKind::badInput) {
  auto imported = import(path);
  ASSERT_FALSE(imported);
  ASSERT_EQ(imported.errors.size(), 1u);
  EXPECT_NE(imported.errors[0].find(words), std::string::npos) << imported.errors[0];
  EXPECT_EQ(imported.errors[0].find('\n'), std::string::npos) << imported.errors[0];
  EXPECT_EQ(imported.kind, kind);
}

inline void expectError(const ModelBuilder &model, const std::string &words,
                        ImportKind kind = ImportKind::badInput) {
  Scratch scratch;
  expectError(scratch.write("m.onnx", model.bytes()), words, kind);
}

} // namespace gantry::importer::test
