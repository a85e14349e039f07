// The functions of gantry.h for status codes, messages, element types and the version.
#include "engine/base/thread_exit.h"
#include "engine/capi/handles.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace gantry::capi {

namespace {

static_assert(GANTRY_STATUS_OK == static_cast<int>(StatusCode::kOk));
static_assert(GANTRY_STATUS_INVALID_ARGUMENT == static_cast<int>(StatusCode::kInvalidArgument));
static_assert(GANTRY_STATUS_NOT_FOUND == static_cast<int>(StatusCode::kNotFound));
static_assert(GANTRY_STATUS_UNSUPPORTED == static_cast<int>(StatusCode::kUnsupported));
static_assert(GANTRY_STATUS_OUT_OF_MEMORY == static_cast<int>(StatusCode::kOutOfMemory));
static_assert(GANTRY_STATUS_DATA_LOSS == static_cast<int>(StatusCode::kDataLoss));
static_assert(GANTRY_STATUS_VERSION_MISMATCH == static_cast<int>(StatusCode::kVersionMismatch));
static_assert(GANTRY_STATUS_DEVICE_LOST == static_cast<int>(StatusCode::kDeviceLost));
static_assert(GANTRY_STATUS_IO == static_cast<int>(StatusCode::kIo));
static_assert(GANTRY_STATUS_FAILED_PRECONDITION ==
              static_cast<int>(StatusCode::kFailedPrecondition));
static_assert(GANTRY_STATUS_INTERNAL == static_cast<int>(StatusCode::kInternal));

static_assert(GANTRY_TYPE_F32 == static_cast<int>(artifact::ElementType::f32));
static_assert(GANTRY_TYPE_F16 == static_cast<int>(artifact::ElementType::f16));
static_assert(GANTRY_TYPE_F64 == static_cast<int>(artifact::ElementType::f64));
static_assert(GANTRY_TYPE_BF16 == static_cast<int>(artifact::ElementType::bf16));
static_assert(GANTRY_TYPE_I8 == static_cast<int>(artifact::ElementType::i8));
static_assert(GANTRY_TYPE_U8 == static_cast<int>(artifact::ElementType::u8));
static_assert(GANTRY_TYPE_I16 == static_cast<int>(artifact::ElementType::i16));
static_assert(GANTRY_TYPE_U16 == static_cast<int>(artifact::ElementType::u16));
static_assert(GANTRY_TYPE_I32 == static_cast<int>(artifact::ElementType::i32));
static_assert(GANTRY_TYPE_U32 == static_cast<int>(artifact::ElementType::u32));
static_assert(GANTRY_TYPE_I64 == static_cast<int>(artifact::ElementType::i64));
static_assert(GANTRY_TYPE_U64 == static_cast<int>(artifact::ElementType::u64));
static_assert(GANTRY_TYPE_BOOL == static_cast<int>(artifact::ElementType::bool8));

/// The last message of the calling thread. A short message lies in thread-local storage, so that a
/// lack of memory can always be reported. A longer message is allocated with malloc, and freed when
/// the next message replaces it or the thread ends.
struct LastError {
  char brief[128];
  char *text; // Points to brief or to a longer array from malloc; null if there was no failure.
};
constinit thread_local LastError lastError{};

void freeText(void *error) {
  auto *last = static_cast<LastError *>(error);
  if (last->text != last->brief)
    std::free(last->text);
  last->text = nullptr;
}

bool freesTextAtExit() {
  static ThreadExit exit(freeText);
  return exit.arm(&lastError);
}

void keepMessage(const std::string &message) {
  LastError &last = lastError;
  freeText(&last);
  const size_t bytes = message.size() + 1;
  if (bytes > sizeof(last.brief) && freesTextAtExit())
    last.text = static_cast<char *>(std::malloc(bytes));
  if (last.text == nullptr)
    last.text = last.brief; // A message that does not fit is cut.
  const size_t kept = std::min(bytes, last.text == last.brief ? sizeof(last.brief) : bytes) - 1;
  std::memcpy(last.text, message.data(), kept);
  last.text[kept] = '\0';
}

bool isType(int type) { return type >= 0 && type <= GANTRY_TYPE_BOOL; }

} // namespace

gantry_status_t report(const Status &status) {
  if (!status.isOk())
    keepMessage(status.message());
  return static_cast<gantry_status_t>(status.code());
}

gantry_status_t nullArgument(const char *function, const char *argument) {
  return report(
      statusf(StatusCode::kInvalidArgument, "%s: %s must not be NULL", function, argument));
}

} // namespace gantry::capi

using namespace gantry;

extern "C" {

const char *gantry_status_name(gantry_status_t status) {
  return statusCodeName(static_cast<StatusCode>(capi::rawValue(status)));
}

const char *gantry_last_error(void) {
  return capi::lastError.text == nullptr ? "" : capi::lastError.text;
}

const char *gantry_version(void) { return GANTRY_VERSION; }

void gantry_free(void *memory) { std::free(memory); }

const char *gantry_type_name(gantry_type_t type) {
  const int raw = capi::rawValue(type);
  return capi::isType(raw) ? artifact::elementName(static_cast<artifact::ElementType>(raw))
                           : "unknown";
}

size_t gantry_type_size(gantry_type_t type) {
  const int raw = capi::rawValue(type);
  return capi::isType(raw) ? artifact::elementSize(static_cast<artifact::ElementType>(raw)) : 0;
}

} // extern "C"
