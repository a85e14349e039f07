// Implements AppWindow.
#include "profiler_gui/platform/app_window.h"

#include "engine/base/pin_modules.h"

#include <imgui.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_vulkan.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <limits>

namespace gantry::profiler {
namespace {

std::string glfwMessage() {
  const char *text = nullptr;
  glfwGetError(&text);
  return text != nullptr ? text : "no reason given";
}

AppWindow *windowOf(GLFWwindow *window) {
  return static_cast<AppWindow *>(glfwGetWindowUserPointer(window));
}

} // namespace

Result<std::unique_ptr<AppWindow>> AppWindow::create(const std::string &title, uint32_t width,
                                                     uint32_t height, float scale) {
  std::unique_ptr<AppWindow> made(new AppWindow());
  // Once Vulkan's drivers are loaded, they must stay loaded (pin_modules.h). GLFW loads them when
  // it is asked for the extensions.
  const LoadedModules before;
  if (glfwInit() != GLFW_TRUE)
    return statusf(StatusCode::kUnsupported,
                   "no window system: %s; use --render FILE to draw a picture without one",
                   glfwMessage().c_str());
  made->glfwReady_ = true;
  glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
  made->window_ = glfwCreateWindow(static_cast<int>(width), static_cast<int>(height), title.c_str(),
                                   nullptr, nullptr);
  if (made->window_ == nullptr)
    return statusf(StatusCode::kUnsupported, "could not open a window of %ux%u pixels: %s", width,
                   height, glfwMessage().c_str());
  glfwSetWindowUserPointer(made->window_, made.get());
  uint32_t count = 0;
  const char **names = glfwGetRequiredInstanceExtensions(&count);
  if (names == nullptr)
    return statusf(StatusCode::kUnsupported,
                   "this display does not support Vulkan: %s; use --render FILE to draw a picture",
                   glfwMessage().c_str());
  GANTRY_ASSIGN_OR_RETURN(made->gpu_, Gpu::create({names, names + count}));
  before.pinNewer();
  GANTRY_RETURN_IF_ERROR(checkVk(
      glfwCreateWindowSurface(made->gpu_->instance(), made->window_, nullptr, &made->surface_),
      "glfwCreateWindowSurface"));
  VkBool32 shows = VK_FALSE;
  vkGetPhysicalDeviceSurfaceSupportKHR(made->gpu_->physical(), made->gpu_->queueFamily(),
                                       made->surface_, &shows);
  if (shows != VK_TRUE)
    return statusf(StatusCode::kUnsupported,
                   "%s cannot present to this display; use --render FILE to draw a picture",
                   made->gpu_->name().c_str());
  GANTRY_RETURN_IF_ERROR(made->createPass());
  GANTRY_RETURN_IF_ERROR(made->createFrame());
  GANTRY_RETURN_IF_ERROR(made->createSwapchain());
  if (scale <= 0) {
    float vertical = 1;
    glfwGetWindowContentScale(made->window_, &scale, &vertical);
    scale = std::clamp(scale, 1.0f, 4.0f);
  }
  GANTRY_ASSIGN_OR_RETURN(made->ui_, UiBackend::create(*made->gpu_, made->pass_, 2, scale));
  made->installCallbacks(); // ImGui's callbacks, which are installed next, call these.
  made->imguiGlfwReady_ = ImGui_ImplGlfw_InitForVulkan(made->window_, true);
  return made;
}

AppWindow::~AppWindow() {
  if (gpu_ != nullptr && gpu_->device() != VK_NULL_HANDLE) {
    const VkDevice device = gpu_->device();
    vkDeviceWaitIdle(device);
    if (imguiGlfwReady_)
      ImGui_ImplGlfw_Shutdown();
    ui_.reset();
    destroySwapchain();
    vkDestroyFence(device, done_, nullptr);
    vkDestroySemaphore(device, acquired_, nullptr);
    vkDestroyCommandPool(device, commandPool_, nullptr);
    vkDestroyRenderPass(device, pass_, nullptr);
    vkDestroySurfaceKHR(gpu_->instance(), surface_, nullptr);
  }
  gpu_.reset();
  if (window_ != nullptr)
    glfwDestroyWindow(window_);
  if (glfwReady_)
    glfwTerminate();
}

void AppWindow::installCallbacks() {
  glfwSetCursorPosCallback(window_,
                           [](GLFWwindow *w, double, double) { windowOf(w)->noteInput(); });
  glfwSetMouseButtonCallback(window_,
                             [](GLFWwindow *w, int, int, int) { windowOf(w)->noteInput(); });
  glfwSetScrollCallback(window_, [](GLFWwindow *w, double, double) { windowOf(w)->noteInput(); });
  glfwSetKeyCallback(window_, [](GLFWwindow *w, int key, int, int action, int mods) {
    windowOf(w)->noteInput();
    if (action == GLFW_PRESS && key >= 0)
      windowOf(w)->noteKey(key, (mods & GLFW_MOD_CONTROL) != 0);
  });
  glfwSetCharCallback(window_, [](GLFWwindow *w, unsigned) { windowOf(w)->noteInput(); });
  glfwSetWindowRefreshCallback(window_, [](GLFWwindow *w) { windowOf(w)->noteInput(); });
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow *w, int, int) {
    windowOf(w)->stale_ = true;
    windowOf(w)->noteInput();
  });
}

bool AppWindow::closeWanted() const { return glfwWindowShouldClose(window_) == GLFW_TRUE; }

bool AppWindow::waitForInput(double maxSeconds) {
  if (maxSeconds > 0)
    glfwWaitEventsTimeout(maxSeconds);
  else
    glfwPollEvents();
  const bool came = input_;
  input_ = false;
  return came;
}

Status AppWindow::createPass() {
  uint32_t count = 0;
  vkGetPhysicalDeviceSurfaceFormatsKHR(gpu_->physical(), surface_, &count, nullptr);
  std::vector<VkSurfaceFormatKHR> formats(count);
  vkGetPhysicalDeviceSurfaceFormatsKHR(gpu_->physical(), surface_, &count, formats.data());
  if (formats.empty())
    return {StatusCode::kUnsupported, "the display offers no surface format"};
  format_ = formats[0];
  for (const VkSurfaceFormatKHR &candidate : formats) {
    // Colours are sRGB values already, so the device must not convert them.
    if (candidate.format == VK_FORMAT_B8G8R8A8_UNORM ||
        candidate.format == VK_FORMAT_R8G8B8A8_UNORM) {
      format_ = candidate;
      break;
    }
  }
  VkSubpassDependency acquire{};
  acquire.srcSubpass = VK_SUBPASS_EXTERNAL;
  acquire.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  acquire.dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  acquire.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  return createColourPass(gpu_->device(), format_.format, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, acquire,
                          &pass_);
}

Status AppWindow::createFrame() {
  const VkDevice device = gpu_->device();
  auto pool = vkInfo<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.queueFamilyIndex = gpu_->queueFamily();
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateCommandPool(device, &pool, nullptr, &commandPool_), "vkCreateCommandPool"));
  auto allocate =
      vkInfo<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = commandPool_;
  allocate.commandBufferCount = 1;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkAllocateCommandBuffers(device, &allocate, &commands_), "vkAllocateCommandBuffers"));
  const auto semaphore = vkInfo<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateSemaphore(device, &semaphore, nullptr, &acquired_), "vkCreateSemaphore"));
  auto fence = vkInfo<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  fence.flags = VK_FENCE_CREATE_SIGNALED_BIT;
  return checkVk(vkCreateFence(device, &fence, nullptr, &done_), "vkCreateFence");
}

Status AppWindow::createSwapchain() {
  const VkDevice device = gpu_->device();
  vkDeviceWaitIdle(device);
  destroySwapchain();
  VkSurfaceCapabilitiesKHR can{};
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(gpu_->physical(), surface_, &can),
              "vkGetPhysicalDeviceSurfaceCapabilitiesKHR"));
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  extent_ = can.currentExtent;
  if (extent_.width == std::numeric_limits<uint32_t>::max())
    extent_ = {std::clamp(static_cast<uint32_t>(width), can.minImageExtent.width,
                          can.maxImageExtent.width),
               std::clamp(static_cast<uint32_t>(height), can.minImageExtent.height,
                          can.maxImageExtent.height)};
  stale_ = false;
  if (extent_.width == 0 || extent_.height == 0)
    return Status::ok(); // The window is minimised.
  auto info = vkInfo<VkSwapchainCreateInfoKHR>(VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR);
  info.surface = surface_;
  info.minImageCount = std::max(2u, can.minImageCount);
  if (can.maxImageCount > 0)
    info.minImageCount = std::min(info.minImageCount, can.maxImageCount);
  info.imageFormat = format_.format;
  info.imageColorSpace = format_.colorSpace;
  info.imageExtent = extent_;
  info.imageArrayLayers = 1;
  info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  info.preTransform = can.currentTransform;
  info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
  info.clipped = VK_TRUE;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateSwapchainKHR(device, &info, nullptr, &swapchain_), "vkCreateSwapchainKHR"));
  uint32_t count = 0;
  vkGetSwapchainImagesKHR(device, swapchain_, &count, nullptr);
  std::vector<VkImage> images(count);
  vkGetSwapchainImagesKHR(device, swapchain_, &count, images.data());
  for (const VkImage image : images)
    GANTRY_RETURN_IF_ERROR(createImage(image));
  return Status::ok();
}

/// Appends an image of the swapchain to images_, with its view, framebuffer and semaphore.
Status AppWindow::createImage(VkImage swapchainImage) {
  const VkDevice device = gpu_->device();
  images_.emplace_back();
  Image &image = images_.back();
  image.image = swapchainImage;
  auto view = vkInfo<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
  view.image = image.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = format_.format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateImageView(device, &view, nullptr, &image.view), "vkCreateImageView"));
  auto frame = vkInfo<VkFramebufferCreateInfo>(VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO);
  frame.renderPass = pass_;
  frame.attachmentCount = 1;
  frame.pAttachments = &image.view;
  frame.width = extent_.width;
  frame.height = extent_.height;
  frame.layers = 1;
  GANTRY_RETURN_IF_ERROR(checkVk(vkCreateFramebuffer(device, &frame, nullptr, &image.framebuffer),
                                 "vkCreateFramebuffer"));
  const auto semaphore = vkInfo<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateSemaphore(device, &semaphore, nullptr, &image.drawn), "vkCreateSemaphore"));
  return Status::ok();
}

void AppWindow::destroySwapchain() {
  const VkDevice device = gpu_->device();
  for (const Image &image : images_) {
    vkDestroyFramebuffer(device, image.framebuffer, nullptr);
    vkDestroyImageView(device, image.view, nullptr);
    vkDestroySemaphore(device, image.drawn, nullptr);
  }
  images_.clear();
  vkDestroySwapchainKHR(device, swapchain_, nullptr);
  swapchain_ = VK_NULL_HANDLE;
}

Result<bool> AppWindow::beginFrame() {
  if (stale_ || swapchain_ == VK_NULL_HANDLE)
    GANTRY_RETURN_IF_ERROR(createSwapchain());
  if (swapchain_ == VK_NULL_HANDLE)
    return false;
  ImGui_ImplVulkan_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  // ImGui 1.86 samples keys once per frame and would miss a key that is pressed and released
  // between two frames.
  ImGuiIO &io = ImGui::GetIO();
  const auto down = [&](int key) { return glfwGetKey(window_, key) == GLFW_PRESS; };
  io.KeyCtrl = down(GLFW_KEY_LEFT_CONTROL) || down(GLFW_KEY_RIGHT_CONTROL);
  for (const Pressed &pressed : pressed_) {
    if (pressed.key < IM_ARRAYSIZE(io.KeysDown))
      io.KeysDown[pressed.key] = true;
    io.KeyCtrl = io.KeyCtrl || pressed.ctrl;
  }
  ImGui::NewFrame();
  for (const Pressed &pressed : pressed_) {
    if (pressed.key < IM_ARRAYSIZE(io.KeysDown))
      io.KeysDown[pressed.key] = down(pressed.key);
  }
  pressed_.clear();
  return true;
}

Status AppWindow::endFrame(Canvas &canvas, uint32_t clearColour) {
  const VkDevice device = gpu_->device();
  vkWaitForFences(device, 1, &done_, VK_TRUE, UINT64_MAX);
  uint32_t index = 0;
  const VkResult acquired =
      vkAcquireNextImageKHR(device, swapchain_, UINT64_MAX, acquired_, VK_NULL_HANDLE, &index);
  if (acquired == VK_ERROR_OUT_OF_DATE_KHR) {
    stale_ = true;
    noteInput();
    return Status::ok();
  }
  stale_ = acquired == VK_SUBOPTIMAL_KHR;
  if (!stale_)
    GANTRY_RETURN_IF_ERROR(checkVk(acquired, "vkAcquireNextImageKHR"));
  GANTRY_RETURN_IF_ERROR(checkVk(vkResetFences(device, 1, &done_), "vkResetFences"));
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkResetCommandPool(device, commandPool_, 0), "vkResetCommandPool"));
  GANTRY_RETURN_IF_ERROR(
      beginColourPass(commands_, pass_, images_[index].framebuffer, extent_, clearColour));
  const Status recorded = ui_->record(canvas, 0, commands_);
  vkCmdEndRenderPass(commands_);
  GANTRY_RETURN_IF_ERROR(checkVk(vkEndCommandBuffer(commands_), "vkEndCommandBuffer"));
  GANTRY_RETURN_IF_ERROR(recorded);
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  auto submit = vkInfo<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  submit.waitSemaphoreCount = 1;
  submit.pWaitSemaphores = &acquired_;
  submit.pWaitDstStageMask = &stage;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands_;
  submit.signalSemaphoreCount = 1;
  submit.pSignalSemaphores = &images_[index].drawn;
  GANTRY_RETURN_IF_ERROR(checkVk(vkQueueSubmit(gpu_->queue(), 1, &submit, done_), "vkQueueSubmit"));
  auto present = vkInfo<VkPresentInfoKHR>(VK_STRUCTURE_TYPE_PRESENT_INFO_KHR);
  present.waitSemaphoreCount = 1;
  present.pWaitSemaphores = &images_[index].drawn;
  present.swapchainCount = 1;
  present.pSwapchains = &swapchain_;
  present.pImageIndices = &index;
  const VkResult presented = vkQueuePresentKHR(gpu_->queue(), &present);
  if (presented == VK_ERROR_OUT_OF_DATE_KHR || presented == VK_SUBOPTIMAL_KHR) {
    stale_ = true;
    noteInput();
    return Status::ok();
  }
  return checkVk(presented, "vkQueuePresentKHR");
}

} // namespace gantry::profiler
