// The window on the screen: a GLFW window with a Vulkan swapchain.
//
// The caller decides when to draw, so an idle window need not draw. This class handles closing,
// resizing and minimising.
//
// For each frame, call waitForInput(), beginFrame(), the panels, ImGui::Render() and endFrame().
//
// Errors: kUnsupported if there is no display or the display does not support Vulkan; else those of
// Gpu, UiBackend and CanvasRenderer. Threads: the main thread only, as GLFW requires.
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
  /// Opens a window of width × height screen coordinates. `scale` is the factor on font sizes and
  /// spacing; 0 means the scale of the screen, limited to the range from 1 to 4.
  static Result<std::unique_ptr<AppWindow>> create(const std::string &title, uint32_t width,
                                                   uint32_t height, float scale);
  ~AppWindow();
  AppWindow(const AppWindow &) = delete;
  AppWindow &operator=(const AppWindow &) = delete;

  UiBackend &ui() { return *ui_; }
  const Gpu &gpu() const { return *gpu_; }
  /// Whether the user has closed the window.
  bool closeWanted() const;
  /// Waits up to maxSeconds for input; 0 does not wait. Returns whether there was any input.
  bool waitForInput(double maxSeconds);
  /// Calls ImGui::NewFrame(). While the window is minimised, only returns false.
  Result<bool> beginFrame();
  /// Draws and presents the frame. Call it after ImGui::Render().
  Status endFrame(Canvas &canvas, uint32_t clearColour);
  /// Makes the next waitForInput() return true. Called by GLFW's callbacks.
  void noteInput() { input_ = true; }
  /// Stores a pressed key until the next frame, because the key may be released before that frame.
  /// Called by GLFW's callbacks.
  void noteKey(int key, bool ctrl) { pressed_.push_back({key, ctrl}); }

private:
  struct Image {
    VkImage image = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    VkSemaphore drawn = VK_NULL_HANDLE; // Signalled when the image may be presented.
  };
  AppWindow() = default;
  Status createPass();
  Status createSwapchain();
  Status createImage(VkImage image);
  void destroySwapchain();
  Status createFrame();
  void installCallbacks();

  GLFWwindow *window_ = nullptr;
  bool glfwReady_ = false;
  struct Pressed {
    int key;
    bool ctrl;
  };
  std::vector<Pressed> pressed_; // Keys pressed since the last frame.
  bool input_ = true;
  bool stale_ = false; // Whether the swapchain no longer fits the window.
  std::unique_ptr<Gpu> gpu_;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
  VkSurfaceFormatKHR format_{};
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkExtent2D extent_{};
  std::vector<Image> images_;
  VkRenderPass pass_ = VK_NULL_HANDLE;
  VkCommandPool commandPool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkSemaphore acquired_ = VK_NULL_HANDLE; // Signalled when the next image may be drawn.
  VkFence done_ = VK_NULL_HANDLE;         // Signalled when the last frame is complete.
  std::unique_ptr<UiBackend> ui_;
  bool imguiGlfwReady_ = false;
};

} // namespace gantry::profiler
