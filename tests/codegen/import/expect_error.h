// expectError(): checks that the importer refuses a model with exactly one error of one line that
// contains the given words.
#pragma once

#include "tests/codegen/import/model_builder.h"

#include <gtest/gtest.h>

namespace gantry::importer::test {

inline void expectError(const std::string &path, const std::string &words,
                        ImportFailure failure = ImportFailure::kBadInput) {
  auto imported = import(path);
  ASSERT_FALSE(imported);
  ASSERT_EQ(imported.errors.size(), 1u);
  EXPECT_NE(imported.errors[0].find(words), std::string::npos) << imported.errors[0];
  EXPECT_EQ(imported.errors[0].find('\n'), std::string::npos) << imported.errors[0];
  EXPECT_EQ(imported.failure, failure);
}

inline void expectError(const ModelBuilder &model, const std::string &words,
                        ImportFailure failure = ImportFailure::kBadInput) {
  Scratch scratch;
  expectError(scratch.write("m.onnx", model.bytes()), words, failure);
}

} // namespace gantry::importer::test
