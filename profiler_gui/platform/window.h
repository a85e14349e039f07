// The real window: GLFW, a swapchain, and frames that are drawn only when there is something new.
//
// waitForInput() sleeps until an event comes or the time is up; a window that nothing happens to
// draws nothing. Closing, resizing and minimising are dealt with here.
//
// Errors: kUnsupported where there is no screen or it cannot show Vulkan's pictures, with the
// remedy; else the driver's call. Threads: the main thread, as GLFW demands.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/platform/gpu.h"
#include "profiler_gui/platform/ui_backend.h"

#include <memory>
#include <string>
#include <vector>

struct GLFWwindow;

namespace gantry::profiler {

class AppWindow {
public:
  /// scale 0: what the screen says.
  static Result<std::unique_ptr<AppWindow>> create(const std::string &title, uint32_t width,
                                                   uint32_t height, float scale);
  ~AppWindow();
  AppWindow(const AppWindow &) = delete;
  AppWindow &operator=(const AppWindow &) = delete;

  UiBackend &ui() { return *ui_; }
  const Gpu &gpu() const { return *gpu_; }
  bool closeWanted() const;
  /// True if anything came.
  bool waitForInput(double mostSeconds);
  /// Starts ImGui's frame; false where there is nothing to draw on (minimised).
  Result<bool> beginFrame();
  /// After ImGui::Render().
  Status endFrame(Canvas &canvas, uint32_t clearColour);
  void noteInput() { input_ = true; }
  /// Remembers a key that may be up again before the next frame looks.
  void noteKey(int key, bool ctrl) { pressed_.push_back({key, ctrl}); }

private:
  struct Image {
    VkImage image = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    VkSemaphore drawn = VK_NULL_HANDLE;
  };
  AppWindow() = default;
  Status createPass();
  Status createSwapchain();
  void destroySwapchain();
  Status createFrame();
  void installCallbacks();

  GLFWwindow *window_ = nullptr;
  bool glfwReady_ = false;
  struct Pressed {
    int key;
    bool ctrl;
  };
  std::vector<Pressed> pressed_; // since the last frame
  bool input_ = true;
  bool stale_ = false; // the swapchain no longer fits the window
  std::unique_ptr<Gpu> gpu_;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
  VkSurfaceFormatKHR format_{};
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkExtent2D extent_{};
  std::vector<Image> images_;
  VkRenderPass pass_ = VK_NULL_HANDLE;
  VkCommandPool commandPool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkSemaphore acquired_ = VK_NULL_HANDLE;
  VkFence done_ = VK_NULL_HANDLE;
  std::unique_ptr<UiBackend> ui_;
  bool imguiGlfwReady_ = false;
};

} // namespace gantry::profiler
