// A sink of the collector that writes to a capture file.
#include "engine/trace/record/file_recording.h"

#include "engine/trace/wire/capture_file.h"
#include "engine/trace/record/collector.h"

namespace gantry::trace {
namespace {

// The time after which waiting events are flushed from the encoder. The library sets no signal
// handlers for a file recording, so a process that is ended by Ctrl-C or SIGKILL loses these
// events.
constexpr uint64_t kFileFlushNs = 20'000'000;

FrameSinkOptions fileOptions() {
  FrameSinkOptions options;
  options.codec = FrameCodec::kZstd;
  options.chunkEvents = 65536;
  return options;
}

} // namespace

struct FileRecording::Impl {
  explicit Impl(std::unique_ptr<CaptureFile> opened)
      : file(std::move(opened)), attached(
                                     fileOptions(),
                                     [](void *user, std::span<const uint8_t> frame) {
                                       return static_cast<Impl *>(user)->file->write(frame);
                                     },
                                     this) {
    attached.flushNs = kFileFlushNs;
  }
  std::unique_ptr<CaptureFile> file;
  AttachedSink attached;
  bool stopped = false;
};

FileRecording::FileRecording() = default;

Result<std::unique_ptr<FileRecording>> FileRecording::start(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(auto file, CaptureFile::create(path));
  std::unique_ptr<FileRecording> recording(new FileRecording);
  recording->impl_ = std::make_unique<Impl>(std::move(file));
  if (Status attached = Collector::instance().attach(recording->impl_->attached);
      !attached.isOk()) {
    recording->impl_->stopped = true;
    return attached;
  }
  return recording;
}

FileRecording::~FileRecording() {
  if (impl_ != nullptr)
    (void)stop();
}

Status FileRecording::stop() {
  if (impl_->stopped)
    return {};
  impl_->stopped = true;
  Collector::instance().detach(impl_->attached);
  GANTRY_RETURN_IF_ERROR(impl_->attached.sink.status());
  return impl_->file->finish();
}

} // namespace gantry::trace
