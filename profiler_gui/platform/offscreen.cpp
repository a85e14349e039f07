// Implements Offscreen.
#include "profiler_gui/platform/offscreen.h"

#include <imgui.h>
#include <backends/imgui_impl_vulkan.h>

#include <cstring>

namespace gantry::profiler {
namespace {
constexpr VkFormat kFormat = VK_FORMAT_R8G8B8A8_UNORM;
} // namespace

Result<std::unique_ptr<Offscreen>> Offscreen::create(uint32_t width, uint32_t height, float scale) {
  std::unique_ptr<Offscreen> made(new Offscreen());
  made->width_ = width;
  made->height_ = height;
  GANTRY_ASSIGN_OR_RETURN(made->gpu_, Gpu::create({}));
  GANTRY_RETURN_IF_ERROR(made->createTarget());
  GANTRY_RETURN_IF_ERROR(made->createPass());
  GANTRY_ASSIGN_OR_RETURN(made->ui_, UiBackend::create(*made->gpu_, made->pass_, 2, scale));
  return made;
}

Offscreen::~Offscreen() {
  ui_.reset();
  if (gpu_ == nullptr || gpu_->device() == VK_NULL_HANDLE)
    return;
  const VkDevice device = gpu_->device();
  vkDestroyCommandPool(device, commandPool_, nullptr);
  vkDestroyFramebuffer(device, framebuffer_, nullptr);
  vkDestroyRenderPass(device, pass_, nullptr);
  vkDestroyImageView(device, view_, nullptr);
  vkDestroyImage(device, image_, nullptr);
  vkFreeMemory(device, memory_, nullptr);
  readback_.destroy();
}

Status Offscreen::createTarget() {
  const VkDevice device = gpu_->device();
  auto info = vkInfo<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = kFormat;
  info.extent = {width_, height_, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  GANTRY_RETURN_IF_ERROR(checkVk(vkCreateImage(device, &info, nullptr, &image_), "vkCreateImage"));
  VkMemoryRequirements needs;
  vkGetImageMemoryRequirements(device, image_, &needs);
  GANTRY_ASSIGN_OR_RETURN(const uint32_t type, gpu_->memoryType(needs.memoryTypeBits, 0));
  auto allocate = vkInfo<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = type;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkAllocateMemory(device, &allocate, nullptr, &memory_), "vkAllocateMemory"));
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkBindImageMemory(device, image_, memory_, 0), "vkBindImageMemory"));
  auto view = vkInfo<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
  view.image = image_;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = kFormat;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateImageView(device, &view, nullptr, &view_), "vkCreateImageView"));
  return readback_.reserve(*gpu_, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                           VkDeviceSize{width_} * height_ * 4);
}

Status Offscreen::createPass() {
  const VkDevice device = gpu_->device();
  VkSubpassDependency toCopy{};
  toCopy.srcSubpass = 0;
  toCopy.dstSubpass = VK_SUBPASS_EXTERNAL;
  toCopy.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  toCopy.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  toCopy.dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT;
  toCopy.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
  GANTRY_RETURN_IF_ERROR(
      createColourPass(device, kFormat, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, toCopy, &pass_));
  auto frame = vkInfo<VkFramebufferCreateInfo>(VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO);
  frame.renderPass = pass_;
  frame.attachmentCount = 1;
  frame.pAttachments = &view_;
  frame.width = width_;
  frame.height = height_;
  frame.layers = 1;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateFramebuffer(device, &frame, nullptr, &framebuffer_), "vkCreateFramebuffer"));
  auto pool = vkInfo<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = gpu_->queueFamily();
  return checkVk(vkCreateCommandPool(device, &pool, nullptr, &commandPool_), "vkCreateCommandPool");
}

void Offscreen::beginFrame(float deltaSeconds) {
  ImGuiIO &io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width_), static_cast<float>(height_)};
  io.DeltaTime = deltaSeconds;
  ImGui_ImplVulkan_NewFrame();
}

Result<Picture> Offscreen::render(Canvas &canvas, uint32_t clearColour) {
  const VkDevice device = gpu_->device();
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkResetCommandPool(device, commandPool_, 0), "vkResetCommandPool"));
  auto allocate =
      vkInfo<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = commandPool_;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkAllocateCommandBuffers(device, &allocate, &commands), "vkAllocateCommandBuffers"));
  GANTRY_RETURN_IF_ERROR(
      beginColourPass(commands, pass_, framebuffer_, {width_, height_}, clearColour));
  const Status recorded = ui_->record(canvas, 0, commands);
  vkCmdEndRenderPass(commands);
  VkBufferImageCopy region{};
  region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  region.imageExtent = {width_, height_, 1};
  vkCmdCopyImageToBuffer(commands, image_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, readback_.buffer(),
                         1, &region);
  auto toHost = vkInfo<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  toHost.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  toHost.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                       &toHost, 0, nullptr, 0, nullptr);
  GANTRY_RETURN_IF_ERROR(checkVk(vkEndCommandBuffer(commands), "vkEndCommandBuffer"));
  GANTRY_RETURN_IF_ERROR(recorded);
  auto submit = vkInfo<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkQueueSubmit(gpu_->queue(), 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit"));
  GANTRY_RETURN_IF_ERROR(checkVk(vkQueueWaitIdle(gpu_->queue()), "vkQueueWaitIdle"));
  Picture picture{width_, height_, std::vector<uint32_t>(size_t{width_} * height_)};
  std::memcpy(picture.pixels.data(), readback_.data(), picture.pixels.size() * 4);
  return picture;
}

} // namespace gantry::profiler
