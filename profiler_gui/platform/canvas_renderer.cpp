// Implements CanvasRenderer.
#include "profiler_gui/platform/canvas_renderer.h"

#include "profiler_gui/rects_vert.h"
#include "profiler_gui/rects_frag.h"
#include "profiler_gui/raster_vert.h"
#include "profiler_gui/raster_frag.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace gantry::profiler {
namespace {

/// The push constants of both pipelines. The pipeline for rectangles uses only scale and translate.
struct PushBlock {
  float scale[2];
  float translate[2];
  float rect[4];
  float cells[4];
  uint32_t firstCell, columns, rows;
  float opacity;
};
static_assert(sizeof(PushBlock) == 64 && offsetof(PushBlock, rect) == 16,
              "must equal the block in shaders/profiler/raster.*");

template <size_t kCount>
Result<VkShaderModule> makeModule(VkDevice device, const uint32_t (&words)[kCount]) {
  auto info = vkInfo<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  info.codeSize = sizeof(words);
  info.pCode = words;
  VkShaderModule module = VK_NULL_HANDLE;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateShaderModule(device, &info, nullptr, &module), "vkCreateShaderModule"));
  return module;
}

struct PipelineKind {
  VkShaderModule vertex, fragment;
  bool instanced;     // Whether the vertex shader reads RectInstance.
  bool premultiplied; // Whether colours are premultiplied by alpha.
};

Status makePipeline(VkDevice device, VkPipelineLayout layout, VkRenderPass pass,
                    const PipelineKind &kind, VkPipeline *pipeline) {
  VkPipelineShaderStageCreateInfo stages[2] = {};
  stages[0].sType = stages[1].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
  stages[0].module = kind.vertex;
  stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
  stages[1].module = kind.fragment;
  stages[0].pName = stages[1].pName = "main";

  const VkVertexInputBindingDescription binding{0, sizeof(RectInstance),
                                                VK_VERTEX_INPUT_RATE_INSTANCE};
  const VkVertexInputAttributeDescription attributes[3] = {
      {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(RectInstance, left)},
      {1, 0, VK_FORMAT_R32_UINT, offsetof(RectInstance, fill)},
      {2, 0, VK_FORMAT_R32_UINT, offsetof(RectInstance, style)}};
  auto input = vkInfo<VkPipelineVertexInputStateCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO);
  if (kind.instanced) {
    input.vertexBindingDescriptionCount = 1;
    input.pVertexBindingDescriptions = &binding;
    input.vertexAttributeDescriptionCount = 3;
    input.pVertexAttributeDescriptions = attributes;
  }
  auto assembly = vkInfo<VkPipelineInputAssemblyStateCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO);
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
  auto viewport = vkInfo<VkPipelineViewportStateCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO);
  viewport.viewportCount = viewport.scissorCount = 1;
  auto raster = vkInfo<VkPipelineRasterizationStateCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO);
  raster.cullMode = VK_CULL_MODE_NONE;
  raster.lineWidth = 1.0f;
  auto samples = vkInfo<VkPipelineMultisampleStateCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO);
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkPipelineColorBlendAttachmentState blend{};
  blend.blendEnable = VK_TRUE;
  blend.srcColorBlendFactor = kind.premultiplied ? VK_BLEND_FACTOR_ONE : VK_BLEND_FACTOR_SRC_ALPHA;
  blend.dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  blend.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
  blend.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  blend.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                         VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
  auto blending = vkInfo<VkPipelineColorBlendStateCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO);
  blending.attachmentCount = 1;
  blending.pAttachments = &blend;
  const VkDynamicState dynamicStates[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  auto dynamic = vkInfo<VkPipelineDynamicStateCreateInfo>(
      VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO);
  dynamic.dynamicStateCount = 2;
  dynamic.pDynamicStates = dynamicStates;

  auto info = vkInfo<VkGraphicsPipelineCreateInfo>(VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO);
  info.stageCount = 2;
  info.pStages = stages;
  info.pVertexInputState = &input;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &viewport;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &samples;
  info.pColorBlendState = &blending;
  info.pDynamicState = &dynamic;
  info.layout = layout;
  info.renderPass = pass;
  return checkVk(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, pipeline),
                 "vkCreateGraphicsPipelines");
}

} // namespace

Result<std::unique_ptr<CanvasRenderer>> CanvasRenderer::create(const Gpu &gpu, VkRenderPass pass) {
  std::unique_ptr<CanvasRenderer> renderer(new CanvasRenderer(gpu));
  GANTRY_RETURN_IF_ERROR(renderer->createLayouts());
  GANTRY_RETURN_IF_ERROR(renderer->createPipelines(pass));
  return renderer;
}

CanvasRenderer::~CanvasRenderer() {
  const VkDevice device = gpu_.device();
  vkDestroyPipeline(device, rectPipeline_, nullptr);
  vkDestroyPipeline(device, rasterPipeline_, nullptr);
  vkDestroyPipelineLayout(device, layout_, nullptr);
  vkDestroyDescriptorPool(device, pool_, nullptr);
  vkDestroyDescriptorSetLayout(device, setLayout_, nullptr);
}

Status CanvasRenderer::createLayouts() {
  const VkDevice device = gpu_.device();
  VkDescriptorSetLayoutBinding binding{};
  binding.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  binding.descriptorCount = 1;
  binding.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT;
  auto setInfo =
      vkInfo<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
  setInfo.bindingCount = 1;
  setInfo.pBindings = &binding;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateDescriptorSetLayout(device, &setInfo, nullptr, &setLayout_),
              "vkCreateDescriptorSetLayout"));

  VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kFrameSlots};
  auto poolInfo = vkInfo<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
  poolInfo.maxSets = kFrameSlots;
  poolInfo.poolSizeCount = 1;
  poolInfo.pPoolSizes = &size;
  GANTRY_RETURN_IF_ERROR(checkVk(vkCreateDescriptorPool(device, &poolInfo, nullptr, &pool_),
                                 "vkCreateDescriptorPool"));
  for (Slot &slot : slots_) {
    auto allocate =
        vkInfo<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    allocate.descriptorPool = pool_;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &setLayout_;
    GANTRY_RETURN_IF_ERROR(checkVk(vkAllocateDescriptorSets(device, &allocate, &slot.set),
                                   "vkAllocateDescriptorSets"));
  }
  const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                                  sizeof(PushBlock)};
  auto layoutInfo =
      vkInfo<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  layoutInfo.setLayoutCount = 1;
  layoutInfo.pSetLayouts = &setLayout_;
  layoutInfo.pushConstantRangeCount = 1;
  layoutInfo.pPushConstantRanges = &range;
  return checkVk(vkCreatePipelineLayout(device, &layoutInfo, nullptr, &layout_),
                 "vkCreatePipelineLayout");
}

Status CanvasRenderer::createPipelines(VkRenderPass pass) {
  const VkDevice device = gpu_.device();
  GANTRY_ASSIGN_OR_RETURN(const VkShaderModule rectVertex, makeModule(device, kRectsVert));
  GANTRY_ASSIGN_OR_RETURN(const VkShaderModule rectFragment, makeModule(device, kRectsFrag));
  GANTRY_ASSIGN_OR_RETURN(const VkShaderModule rasterVertex, makeModule(device, kRasterVert));
  GANTRY_ASSIGN_OR_RETURN(const VkShaderModule rasterFragment, makeModule(device, kRasterFrag));
  Status status =
      makePipeline(device, layout_, pass, {rectVertex, rectFragment, true, false}, &rectPipeline_);
  if (status.isOk())
    status = makePipeline(device, layout_, pass, {rasterVertex, rasterFragment, false, true},
                          &rasterPipeline_);
  for (VkShaderModule module : {rectVertex, rectFragment, rasterVertex, rasterFragment})
    vkDestroyShaderModule(device, module, nullptr);
  return status;
}

Status CanvasRenderer::upload(Canvas &canvas, uint32_t slot, VkCommandBuffer commands,
                              ImVec2 displaySize, ImVec2 pixelScale) {
  Slot &buffers = slots_[slot];
  const size_t rectBytes = canvas.rects().size() * sizeof(RectInstance);
  const size_t cellBytes = canvas.cells().size() * sizeof(uint32_t);
  GANTRY_RETURN_IF_ERROR(buffers.rects.reserve(gpu_, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, rectBytes));
  const VkBuffer before = buffers.cells.buffer();
  GANTRY_RETURN_IF_ERROR(
      buffers.cells.reserve(gpu_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, cellBytes));
  if (before != buffers.cells.buffer()) {
    const VkDescriptorBufferInfo buffer{buffers.cells.buffer(), 0, VK_WHOLE_SIZE};
    auto write = vkInfo<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstSet = buffers.set;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &buffer;
    vkUpdateDescriptorSets(gpu_.device(), 1, &write, 0, nullptr);
  }
  if (rectBytes > 0)
    std::memcpy(buffers.rects.data(), canvas.rects().data(), rectBytes);
  if (cellBytes > 0)
    std::memcpy(buffers.cells.data(), canvas.cells().data(), cellBytes);
  slot_ = slot;
  commands_ = commands;
  displaySize_ = displaySize;
  pixelScale_ = pixelScale;
  canvas.setDrawer(draw, this);
  return Status::ok();
}

void CanvasRenderer::draw(void *self, const Canvas::Batch &batch, const ImDrawCmd &cmd) {
  static_cast<CanvasRenderer *>(self)->drawBatch(batch, cmd);
}

void CanvasRenderer::drawBatch(const Canvas::Batch &batch, const ImDrawCmd &cmd) {
  const float width = displaySize_.x * pixelScale_.x;
  const float height = displaySize_.y * pixelScale_.y;
  const float left = std::clamp(cmd.ClipRect.x * pixelScale_.x, 0.0f, width);
  const float top = std::clamp(cmd.ClipRect.y * pixelScale_.y, 0.0f, height);
  const float right = std::clamp(cmd.ClipRect.z * pixelScale_.x, 0.0f, width);
  const float bottom = std::clamp(cmd.ClipRect.w * pixelScale_.y, 0.0f, height);
  if (right <= left || bottom <= top)
    return;
  const VkRect2D scissor{
      {static_cast<int32_t>(left), static_cast<int32_t>(top)},
      {static_cast<uint32_t>(right - left), static_cast<uint32_t>(bottom - top)}};
  vkCmdSetScissor(commands_, 0, 1, &scissor);

  // Shaders work in device pixels, so that an edge is one device pixel wide at any scale.
  PushBlock push{};
  push.scale[0] = 2.0f / width;
  push.scale[1] = 2.0f / height;
  push.translate[0] = push.translate[1] = -1.0f;
  const Slot &slot = slots_[slot_];
  const VkShaderStageFlags stages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
  if (batch.shape == Canvas::Shape::kRects) {
    push.scale[0] *= pixelScale_.x;
    push.scale[1] *= pixelScale_.y;
    vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS, rectPipeline_);
    vkCmdPushConstants(commands_, layout_, stages, 0, sizeof(push), &push);
    const VkBuffer buffer = slot.rects.buffer();
    const VkDeviceSize offset = 0;
    vkCmdBindVertexBuffers(commands_, 0, 1, &buffer, &offset);
    vkCmdDraw(commands_, 4, batch.rectCount, 0, batch.firstRect);
    return;
  }
  for (size_t i = 0; i < 4; ++i) {
    push.rect[i] = batch.rect[i] * (i % 2 == 0 ? pixelScale_.x : pixelScale_.y);
    push.cells[i] = batch.cells[i];
  }
  push.firstCell = batch.image.firstCell;
  push.columns = batch.image.columns;
  push.rows = batch.image.rows;
  push.opacity = batch.opacity;
  vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS, rasterPipeline_);
  vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &slot.set, 0,
                          nullptr);
  vkCmdPushConstants(commands_, layout_, stages, 0, sizeof(push), &push);
  vkCmdDraw(commands_, 4, 1, 0, 0);
}

} // namespace gantry::profiler
