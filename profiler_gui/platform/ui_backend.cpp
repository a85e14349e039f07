// Implements UiBackend.
#include "profiler_gui/platform/ui_backend.h"

#include <imgui.h>
#include <imgui_freetype.h>
#include <backends/imgui_impl_vulkan.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <unistd.h>

namespace gantry::profiler {
namespace {

/// Returns the folder share/gantry/fonts of the program's install prefix, or "" if unknown. The
/// folder is derived from the path of the executable, so that the prefix can be moved.
std::string installedFonts() {
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
  std::string folder(program, length > 0 ? static_cast<size_t>(length) : 0);
  folder.erase(std::min(folder.rfind('/'), folder.size()));
  return folder.empty() ? "" : folder + "/../share/gantry/fonts";
}

/// Returns the path of a font file in the first folder that has it, or "" if no folder has it.
std::string findFont(const char *file) {
  std::vector<std::string> folders;
  if (const char *own = std::getenv("GANTRY_FONTS"); own != nullptr)
    folders.emplace_back(own);
  folders.push_back(installedFonts());
  for (const char *folder :
       {"/usr/share/fonts/opentype/inter", "/usr/share/fonts/truetype/jetbrains-mono",
        "/usr/share/fonts/inter", "/usr/share/fonts/jetbrains-mono", "/usr/share/fonts/TTF",
        "/usr/local/share/fonts"})
    folders.emplace_back(folder);
  for (const std::string &folder : folders) {
    const std::string path = folder + "/" + file;
    if (access(path.c_str(), R_OK) == 0)
      return path;
  }
  return "";
}

} // namespace

Result<std::unique_ptr<UiBackend>> UiBackend::create(const Gpu &gpu, VkRenderPass pass,
                                                     uint32_t imageCount, float scale) {
  std::unique_ptr<UiBackend> backend(new UiBackend(gpu));
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  backend->loadFonts(scale);

  VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 4};
  auto poolInfo = vkInfo<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
  poolInfo.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
  poolInfo.maxSets = 4;
  poolInfo.poolSizeCount = 1;
  poolInfo.pPoolSizes = &size;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateDescriptorPool(gpu.device(), &poolInfo, nullptr, &backend->pool_),
              "vkCreateDescriptorPool"));
  ImGui_ImplVulkan_InitInfo info{};
  info.Instance = gpu.instance();
  info.PhysicalDevice = gpu.physical();
  info.Device = gpu.device();
  info.QueueFamily = gpu.queueFamily();
  info.Queue = gpu.queue();
  info.DescriptorPool = backend->pool_;
  info.MinImageCount = imageCount;
  info.ImageCount = imageCount;
  info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
  backend->imguiReady_ = ImGui_ImplVulkan_Init(&info, pass);
  GANTRY_RETURN_IF_ERROR(backend->uploadFonts());
  GANTRY_ASSIGN_OR_RETURN(backend->canvas_, CanvasRenderer::create(gpu, pass));
  return backend;
}

UiBackend::~UiBackend() {
  vkDeviceWaitIdle(gpu_.device());
  canvas_.reset();
  if (imguiReady_)
    ImGui_ImplVulkan_Shutdown();
  vkDestroyDescriptorPool(gpu_.device(), pool_, nullptr);
  ImGui::DestroyContext();
}

void UiBackend::loadFonts(float scale) {
  // Pairs of first and last code points of the characters to load: ASCII, Latin-1, Δ, μ, dashes,
  // ellipsis, arrows, mathematical signs, triangles and crosses.
  static constexpr std::array<ImWchar, 19> kRanges = {
      0x0020, 0x00ff, 0x0394, 0x0394, 0x03bc, 0x03bc, 0x2010, 0x2027, 0x2190, 0x2193,
      0x2212, 0x2212, 0x2260, 0x2265, 0x25b6, 0x25bc, 0x2715, 0x2717, 0};
  ImFontAtlas &atlas = *ImGui::GetIO().Fonts;
  atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
  const auto load = [&](const char *file, float size) -> ImFont * {
    const std::string path = findFont(file);
    if (!path.empty())
      return atlas.AddFontFromFileTTF(path.c_str(), size * scale, nullptr, kRanges.data());
    fontNote_ += fontNote_.empty() ? "fonts not found: " : ", ";
    fontNote_ += file;
    ImFontConfig config;
    config.SizePixels = size * scale;
    return atlas.AddFontDefault(&config);
  };
  fonts_.text = load("Inter-Regular.otf", 15);
  fonts_.small = load("Inter-Regular.otf", 12);
  fonts_.strong = load("Inter-SemiBold.otf", 15);
  fonts_.numbers = load("JetBrainsMono-Regular.ttf", 13);
  fonts_.scale = scale;
}

Status UiBackend::uploadFonts() {
  const VkDevice device = gpu_.device();
  auto poolInfo = vkInfo<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  poolInfo.queueFamilyIndex = gpu_.queueFamily();
  VkCommandPool pool = VK_NULL_HANDLE;
  GANTRY_RETURN_IF_ERROR(
      checkVk(vkCreateCommandPool(device, &poolInfo, nullptr, &pool), "vkCreateCommandPool"));
  auto allocate =
      vkInfo<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  allocate.commandPool = pool;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  Status status =
      checkVk(vkAllocateCommandBuffers(device, &allocate, &commands), "vkAllocateCommandBuffers");
  if (status.isOk()) {
    auto begin = vkInfo<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    vkBeginCommandBuffer(commands, &begin);
    const bool made = ImGui_ImplVulkan_CreateFontsTexture(commands);
    vkEndCommandBuffer(commands);
    auto submit = vkInfo<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    status = made
                 ? checkVk(vkQueueSubmit(gpu_.queue(), 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit")
                 : Status(StatusCode::kInternal, "ImGui could not create its font texture");
    vkQueueWaitIdle(gpu_.queue());
    ImGui_ImplVulkan_DestroyFontUploadObjects();
  }
  vkDestroyCommandPool(device, pool, nullptr);
  return status;
}

Status UiBackend::record(Canvas &canvas, uint32_t slot, VkCommandBuffer commands) {
  ImDrawData *data = ImGui::GetDrawData();
  GANTRY_RETURN_IF_ERROR(
      canvas_->upload(canvas, slot, commands, data->DisplaySize, data->FramebufferScale));
  ImGui_ImplVulkan_RenderDrawData(data, commands);
  return Status::ok();
}

} // namespace gantry::profiler
