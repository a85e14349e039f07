// Tests JsonWriter, and Program::describe(), which writes a program as JSON.
#include "engine/program/json_writer.h"
#include "engine/program/program.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace gantry::program {
namespace {

using nlohmann::json;
using test::TestModel;

TEST(JsonWriter, AParserReadsTheWrittenValues) {
  JsonWriter writer;
  const std::string text = "a\"b\\c\n\x01 \xC3\xA9 \xF0\x9F\x99\x82 bad:\xFF\xC0\xAF\xED\xA0\x80.";
  writer.beginObject().field("text", std::string_view(text));
  writer.key("list").beginList().value(uint64_t{UINT64_MAX}).value(int64_t{-5}).null();
  writer.value(true).beginObject().endObject().beginList().endList().endList();
  writer.endObject();
  const json parsed = json::parse(writer.text());
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(parsed["text"], "a\"b\\c\n\x01 \xC3\xA9 \xF0\x9F\x99\x82 bad:" + replaced + replaced +
                                replaced + replaced + replaced + replaced + ".");
  EXPECT_EQ(parsed["list"].dump(), "[18446744073709551615,-5,null,true,{},[]]");
}

std::shared_ptr<const Program> chain(const test::ScratchFolder &scratch, bool dynamic) {
  TestModel model("chain");
  const uint32_t dim = dynamic ? model.symbol("n", 0, 0, 1, 4096) : model.number(100);
  test::buildChain(model, dim, std::vector<float>(4096));
  const std::string path = scratch.path("m.gantry");
  EXPECT_TRUE(model.write(path).isOk());
  return Program::load(path).take();
}

TEST(Describe, AStaticProgram) {
  test::ScratchFolder scratch;
  const auto program = chain(scratch, false);
  const json d = json::parse(program->describe(std::nullopt).take());
  EXPECT_EQ(d["name"], "chain");
  EXPECT_EQ(d["dynamic"], false);
  EXPECT_EQ(d["inputs"][0]["name"], "in");
  EXPECT_EQ(d["inputs"][0]["dims"], json::array({100}));
  EXPECT_EQ(d["outputs"][0]["type"], "f32");
  EXPECT_EQ(d["arena_bytes"], program->metadata().arena_bytes());
  EXPECT_EQ(d["lower_bound_bytes"], program->metadata().lower_bound_bytes());
  EXPECT_EQ(d["constant_bytes"], 4 * 4096);
  EXPECT_EQ(d["values"].size(), 7u);
  EXPECT_EQ(d["values"][2]["name"], "Twice_0:0");
  EXPECT_EQ(d["values"][2]["op"], "Twice_0");
  EXPECT_EQ(d["values"][2]["storage"], "transient");
  EXPECT_EQ(d["values"][2]["size_bytes"], 400);
  EXPECT_EQ(d["values"][2]["first_use"], 0);
  EXPECT_EQ(d["values"][2]["last_use"], 3);
  EXPECT_TRUE(d["values"][2]["offset"].is_number_unsigned());
  EXPECT_EQ(d["values"][3]["slot"], d["values"][4]["slot"]);
  EXPECT_TRUE(d["values"][0]["slot"].is_null());
  EXPECT_EQ(d["commands"].size(), 5u);
  EXPECT_EQ(d["commands"][1]["kernel"], "add");
  EXPECT_EQ(d["commands"][1]["kind"], "dispatch");
  EXPECT_EQ(d["commands"][1]["workgroups"], json::array({2, 1, 1}));
  EXPECT_EQ(d["commands"][1]["flops"], 100);
  EXPECT_EQ(d["commands"][1]["bytes"], 1200);
  EXPECT_EQ(d["commands"][1]["barrier_before"], true);
  EXPECT_EQ(d["commands"][1]["bindings"][2]["write"], true);
  EXPECT_EQ(d["kernels"].size(), 2u);
  EXPECT_EQ(d["kernels"][0]["workgroup_size"], json::array({64, 1, 1}));
  EXPECT_EQ(d["kernels"][0]["variants"][0]["binding"], "storage_buffer");
  EXPECT_GT(d["kernels"][0]["variants"][0]["spirv_bytes"], 100);
}

TEST(Describe, States) {
  test::ScratchFolder scratch;
  TestModel model;
  const uint32_t w = model.input("w", test::ElementType::f32, {model.number(2), model.number(4)});
  const uint32_t v = model.input("v", test::ElementType::f32, {model.number(8)});
  const uint32_t next = model.apply(test::TestKernel::kAdd, {w, v}, "Add_0");
  model.output("w_next", next);
  model.state(w, next);
  model.initial(model.fill("zeros", 8, 0));
  model.order({1, 0});
  model.state(v);
  model.order({0}); // The order of the ports: as if there were none.
  ASSERT_TRUE(model.write(scratch.path("m.gantry")).isOk());
  const auto program = Program::load(scratch.path("m.gantry")).take();
  const json d = json::parse(program->describe(std::nullopt).take());
  ASSERT_EQ(d["states"].size(), 2u);
  EXPECT_EQ(d["states"][0].dump(), R"({"capacity_bytes":32,"initial":3,"input":0,"name":"w",)"
                                   R"("order":[1,0],"output":0})");
  EXPECT_TRUE(d["states"][1]["output"].is_null());
  EXPECT_TRUE(d["states"][1]["initial"].is_null());
  EXPECT_TRUE(d["states"][1]["order"].empty());
}

TEST(Describe, ADynamicProgramWithAndWithoutSizes) {
  test::ScratchFolder scratch;
  const auto program = chain(scratch, true);
  const json open = json::parse(program->describe(std::nullopt).take());
  EXPECT_EQ(open["dynamic"], true);
  EXPECT_EQ(open["symbols"][0]["name"], "n");
  EXPECT_EQ(open["symbols"][0]["max"], 4096);
  EXPECT_EQ(open["inputs"][0]["dims"], json::array({"n"}));
  EXPECT_TRUE(open["values"][2]["size_bytes"].is_string());
  EXPECT_TRUE(open["values"][2]["offset"].is_null());
  EXPECT_TRUE(open["arena_bytes"].is_null());
  EXPECT_FALSE(open["commands"][1].contains("barrier_before"));

  const int64_t symbols[] = {65};
  const json planned = json::parse(program->describe(std::span<const int64_t>(symbols)).take());
  EXPECT_EQ(planned["values"][2]["size_bytes"], 260);
  EXPECT_EQ(planned["commands"][1]["workgroups"], json::array({2, 1, 1}));
  EXPECT_GT(planned["arena_bytes"], 0);
  EXPECT_EQ(planned["commands"][1]["barrier_before"], true);

  const int64_t tooLarge[] = {5000};
  EXPECT_EQ(program->describe(std::span<const int64_t>(tooLarge)).status().code(),
            StatusCode::kInvalidArgument);
  const int64_t tooMany[] = {5, 6};
  EXPECT_EQ(program->describe(std::span<const int64_t>(tooMany)).status().code(),
            StatusCode::kInvalidArgument);
}

} // namespace
} // namespace gantry::program
