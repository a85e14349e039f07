// Builds plans for tests, as a Description (io/description.h), without a model, compiler or
// planner. SyntheticPlan places tensors first-fit by decreasing size. syntheticSqueezenet()
// resembles SqueezeNet 1.1 with 224x224 inputs.
#pragma once

#include "tools/gantry/io/description.h"

#include <algorithm>
#include <string>

namespace gantry::tool {

class SyntheticPlan {
public:
  /// Adds a command that reads values and writes a new value. Returns the index of the new value.
  /// inPlace: the new value shares the slot of the first read value.
  size_t add(const std::string &op, const std::string &name, std::vector<int64_t> dims,
             const std::vector<size_t> &reads, bool inPlace = false) {
    auto command = static_cast<uint32_t>(plan_.commands.size());
    CommandInfo info;
    info.name = op;
    info.kind = "dispatch";
    plan_.commands.push_back(info);
    for (size_t read : reads)
      plan_.values[read].lastUse = command;
    ValueInfo value;
    value.name = name;
    value.op = op;
    value.storage = "transient";
    value.type = "f32";
    uint64_t size = 4;
    for (int64_t dim : dims) {
      value.dims.push_back(std::to_string(dim));
      size *= static_cast<uint64_t>(dim);
    }
    value.sizeBytes = (size + 255) / 256 * 256;
    value.firstUse = value.lastUse = command;
    value.slot = inPlace ? plan_.values[reads[0]].slot : static_cast<int64_t>(slots_++);
    plan_.values.push_back(value);
    return plan_.values.size() - 1;
  }

  /// Places the values and returns the plan.
  Description finish(const std::string &source, uint64_t constantBytes) {
    struct Slot {
      uint64_t size = 0, offset = 0;
      uint32_t first = ~0u, last = 0;
      bool placed = false;
    };
    std::vector<Slot> slots(slots_);
    for (const ValueInfo &value : plan_.values) {
      Slot &slot = slots[static_cast<size_t>(value.slot)];
      slot.size = std::max(slot.size, *value.sizeBytes);
      slot.first = std::min(slot.first, value.firstUse);
      slot.last = std::max(slot.last, value.lastUse);
    }
    std::vector<Slot *> order;
    for (Slot &slot : slots)
      order.push_back(&slot);
    std::stable_sort(order.begin(), order.end(),
                     [](const Slot *a, const Slot *b) { return a->size > b->size; });
    uint64_t height = 0, bound = 0;
    for (Slot *slot : order) {
      for (bool moved = true; moved;) {
        moved = false;
        for (const Slot &other : slots)
          if (other.placed && other.first <= slot->last && slot->first <= other.last &&
              other.offset < slot->offset + slot->size &&
              slot->offset < other.offset + other.size) {
            slot->offset = other.offset + other.size;
            moved = true;
          }
      }
      slot->placed = true;
      height = std::max(height, slot->offset + slot->size);
    }
    for (uint32_t c = 0; c < plan_.commands.size(); ++c) {
      uint64_t alive = 0;
      for (const Slot &slot : slots)
        alive += slot.first <= c && c <= slot.last ? slot.size : 0;
      if (alive > bound) {
        bound = alive;
        plan_.peakCommand = c;
      }
    }
    for (ValueInfo &value : plan_.values)
      value.offset = slots[static_cast<size_t>(value.slot)].offset;
    plan_.arenaBytes = height;
    plan_.lowerBoundBytes = bound;
    plan_.constantBytes = constantBytes;
    plan_.source = source;
    return plan_;
  }

private:
  Description plan_;
  size_t slots_ = 0;
};

inline Description syntheticSqueezenet() {
  SyntheticPlan plan;
  size_t x = plan.add("Conv_0 + Relu_1", "/features/1/Relu_output_0", {1, 64, 111, 111}, {});
  auto pool = [&](int layer, int channels, int size) {
    std::string op = "/features/" + std::to_string(layer) + "/MaxPool";
    x = plan.add(op, op + "_output_0", {1, channels, size, size}, {x});
  };
  auto fire = [&](int layer, int squeezed, int expanded, int size) {
    std::string at = "/features/" + std::to_string(layer);
    size_t s = plan.add(at + "/squeeze/Conv + " + at + "/squeeze_activation/Relu",
                        at + "/squeeze_activation/Relu_output_0", {1, squeezed, size, size}, {x});
    size_t a = plan.add(at + "/expand1x1/Conv", at + "/expand1x1/Conv_output_0",
                        {1, expanded, size, size}, {s});
    a = plan.add(at + "/expand1x1_activation/Relu", at + "/expand1x1_activation/Relu_output_0",
                 {1, expanded, size, size}, {a}, true);
    size_t b = plan.add(at + "/expand3x3/Conv + " + at + "/expand3x3_activation/Relu",
                        at + "/expand3x3_activation/Relu_output_0", {1, expanded, size, size}, {s});
    x = plan.add(at + "/Concat", at + "/Concat_output_0", {1, 2 * expanded, size, size}, {a, b});
  };
  pool(2, 64, 55);
  fire(3, 16, 64, 55);
  fire(4, 16, 64, 55);
  pool(5, 128, 27);
  fire(6, 32, 128, 27);
  fire(7, 32, 128, 27);
  pool(8, 256, 13);
  fire(9, 48, 192, 13);
  fire(10, 48, 192, 13);
  fire(11, 64, 256, 13);
  fire(12, 64, 256, 13);
  x = plan.add("/classifier/1/Conv + /classifier/2/Relu", "/classifier/2/Relu_output_0",
               {1, 1000, 13, 13}, {x});
  plan.add("/classifier/3/GlobalAveragePool", "/classifier/3/GlobalAveragePool_output_0",
           {1, 1000, 1, 1}, {x});
  return plan.finish("squeezenet1_1.onnx", 4'942'000);
}

} // namespace gantry::tool
