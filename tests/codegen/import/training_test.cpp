// Tests the import of training steps (training_info) and of initializers that become states.
#include "tests/codegen/import/model_builder.h"

#include <gtest/gtest.h>

namespace gantry::importer::test {
namespace {

/// Returns a model that infers y = x * w and whose training step computes w_next = w - y.
ModelBuilder trainable() {
  ModelBuilder m;
  m.input("x", {"2"});
  m.floats("w", {2}, {3, 4});
  m.node("Mul", {"x", "w"}, {"y"});
  m.output("y", {"2"});
  onnx::TrainingInfoProto &training = *m.model.add_training_info();
  onnx::NodeProto &update = *training.mutable_algorithm()->add_node();
  update.set_op_type("Sub");
  update.add_input("w");
  update.add_input("y");
  update.add_output("w_next");
  training.mutable_algorithm()->add_output()->set_name("w_next");
  onnx::StringStringEntryProto &binding = *training.add_update_binding();
  binding.set_key("w");
  binding.set_value("w_next");
  return m;
}

Imported importStep(const ModelBuilder &model) {
  Scratch scratch;
  ImportOptions options;
  options.training = true;
  return import(scratch.write("m.onnx", model.bytes()), options);
}

void expectRefused(const ModelBuilder &model, const std::string &words,
                   ImportFailure failure = ImportFailure::kBadInput) {
  Imported imported = importStep(model);
  ASSERT_FALSE(imported);
  ASSERT_EQ(imported.errors.size(), 1u);
  EXPECT_NE(imported.errors[0].find(words), std::string::npos) << imported.errors[0];
  EXPECT_EQ(imported.failure, failure);
}

TEST(Training, UpdateBindingsBecomeStatesWithTheirFirstValues) {
  Imported imported = importStep(trainable());
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_EQ(imported.count("gantry.state = #gantry.state<result = 1, initial = "
                           "dense<[3.000000e+00, 4.000000e+00]> : tensor<2xf32>>"),
            1u)
      << imported.text();
  EXPECT_EQ(imported.count("#gantry.port<name = \"w\""), 1u);
  EXPECT_EQ(imported.count("#gantry.port<name = \"w_next\""), 1u);
}

TEST(Training, WithoutTheOptionTheModelIsForInference) {
  Scratch scratch;
  Imported imported = import(scratch.write("m.onnx", trainable().bytes()));
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_EQ(imported.count("gantry.state"), 0u);
  EXPECT_EQ(imported.count("w_next"), 0u);
}

TEST(Training, WrongTrainingInformationIsRefused) {
  ModelBuilder without;
  without.input("x", {"2"});
  without.node("Relu", {"x"}, {"y"});
  without.output("y");
  expectRefused(without, "the model has no training information (training_info)");
  ModelBuilder twice = trainable();
  *twice.model.add_training_info() = twice.model.training_info(0);
  expectRefused(twice, "the model has 2 training algorithms", ImportFailure::kUnsupported);
  ModelBuilder empty = trainable();
  empty.model.mutable_training_info(0)->clear_update_binding();
  expectRefused(empty, "update_binding is empty");
  ModelBuilder noInitializer = trainable();
  noInitializer.model.mutable_training_info(0)->mutable_update_binding(0)->set_key("x");
  expectRefused(noInitializer,
                "the update binding of \"x\" to \"w_next\": \"x\" is not an initializer");
  ModelBuilder noOutput = trainable();
  noOutput.model.mutable_training_info(0)->mutable_update_binding(0)->set_value("z");
  expectRefused(noOutput, "\"z\" is not an output");
  ModelBuilder boundTwice = trainable();
  *boundTwice.model.mutable_training_info(0)->add_update_binding() =
      boundTwice.model.training_info(0).update_binding(0);
  expectRefused(boundTwice, "the initializer is bound twice");
  ModelBuilder otherShape = trainable();
  otherShape.floats("wide", {3, 2}, {1, 2, 3, 4, 5, 6});
  otherShape.model.mutable_training_info(0)->mutable_algorithm()->mutable_node(0)->set_input(
      1, "wide");
  expectRefused(otherShape,
                "updates the initializer \"w\" with the output \"w_next\", which has another");
  ModelBuilder gradient = trainable();
  gradient.model.mutable_training_info(0)->mutable_algorithm()->mutable_node(0)->set_domain(
      "ai.onnx.preview.training");
  expectRefused(gradient, "operators that are not supported yet: ai.onnx.preview.training.Sub",
                ImportFailure::kUnsupported);
}

TEST(States, AnInitializerBecomesAnInput) {
  Scratch scratch;
  ImportOptions options;
  options.states = {"w", "x", "nobody"};
  Imported imported = import(scratch.write("m.onnx", trainable().bytes()), options);
  ASSERT_TRUE(imported) << imported.errors[0];
  EXPECT_EQ(imported.count("gantry.state = #gantry.state<initial = dense<[3.000000e+00, "
                           "4.000000e+00]> : tensor<2xf32>>"),
            1u)
      << imported.text();
}

} // namespace
} // namespace gantry::importer::test
