/* digits_classify: classifies all test images with a compiled digits network and prints the
 * accuracy and the images per second. It uses only gantry/gantry.h.
 *
 *   digits_classify DIGITS.gantry DATA_FOLDER [DEVICE]
 *
 * DATA_FOLDER holds test_images.npy (f32, N x 1 x 8 x 8) and test_labels.npy (u8, N). The network's
 * batch size is fixed; blank images fill the last batch, and their results are not counted.
 * Exit codes: 0: the accuracy is at least 97 %; 1: it is lower; 2: a step failed, and one line on
 * stderr names it.
 */
#include <gantry/gantry.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kPixels = 64, kClasses = 10 };

static void fail(const char *what, const char *why) {
  fprintf(stderr, "digits_classify: %s: %s\n", what, why);
  exit(2);
}

static void check(gantry_status_t status, const char *what) {
  if (status != GANTRY_STATUS_OK)
    fail(what, gantry_last_error());
}

static double secondsNow(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Reads the data of an .npy file (version 1) whose header must contain the element type `descr`,
 * such as "'<f4'". Sets *sizeBytes to the number of bytes after the header. The caller frees the
 * result. Ends the program if the file cannot be read. */
static void *readNpy(const char *folder, const char *name, const char *descr, size_t *sizeBytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (!file)
    fail(path, "cannot be opened");
  unsigned char prefix[10];
  if (fread(prefix, 1, sizeof prefix, file) != sizeof prefix ||
      memcmp(prefix, "\x93NUMPY\x01", 7) != 0)
    fail(path, "is not an .npy file of version 1");
  size_t headerBytes = prefix[8] + 256u * prefix[9];
  char *header = calloc(1, headerBytes + 1);
  if (!header || fread(header, 1, headerBytes, file) != headerBytes || !strstr(header, descr) ||
      strstr(header, "'fortran_order': True"))
    fail(path, "does not have the expected element type, or is not row-major");
  free(header);
  long begin = ftell(file);
  fseek(file, 0, SEEK_END);
  *sizeBytes = (size_t)(ftell(file) - begin);
  fseek(file, begin, SEEK_SET);
  void *data = malloc(*sizeBytes ? *sizeBytes : 1);
  if (!data || fread(data, 1, *sizeBytes, file) != *sizeBytes)
    fail(path, "cannot be read to its end");
  fclose(file);
  return data;
}

/* Classifies `count` images, `batch` images per run, and returns the number of results that equal
 * their labels. `images` must be padded to a multiple of `batch` images. `logits` is scratch memory
 * for the scores of one batch. */
static size_t classifyAll(gantry_session_t *session, size_t batch, float *images,
                          const unsigned char *labels, size_t count, float *logits) {
  size_t right = 0;
  for (size_t first = 0; first < count; first += batch) {
    gantry_tensor_t input = {.type = GANTRY_TYPE_F32,
                             .rank = 4,
                             .dims = {(int64_t)batch, 1, 8, 8},
                             .data = images + first * kPixels,
                             .size_bytes = batch * kPixels * sizeof(float)};
    gantry_tensor_t output = {
        .type = GANTRY_TYPE_F32, .data = logits, .size_bytes = batch * kClasses * sizeof(float)};
    check(gantry_session_run(session, &input, 1, &output, 1), "run");
    for (size_t i = 0; i < batch && first + i < count; ++i) {
      const float *scores = logits + i * kClasses;
      int best = 0;
      for (int digit = 1; digit < kClasses; ++digit)
        best = scores[digit] > scores[best] ? digit : best;
      right += best == labels[first + i];
    }
  }
  return right;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: digits_classify DIGITS.gantry DATA_FOLDER [DEVICE]\n");
    return 2;
  }
  gantry_program_t *program;
  gantry_device_t *device;
  gantry_session_t *session;
  check(gantry_program_load(argv[1], &program), argv[1]);
  check(gantry_device_create(argc == 4 ? argv[3] : NULL, &device), "device");
  check(gantry_session_create(program, device, NULL, &session), "session");

  gantry_port_info_t port;
  check(gantry_program_input(program, 0, &port), "input");
  if (port.type != GANTRY_TYPE_F32 || port.rank != 4 || port.dims[0] < 1 || port.dims[1] != 1 ||
      port.dims[2] != 8 || port.dims[3] != 8)
    fail(argv[1], "is not the digits network: its input is not f32 [batch, 1, 8, 8]");
  size_t batch = (size_t)port.dims[0];

  size_t imageBytes, labelBytes;
  float *images = readNpy(argv[2], "test_images.npy", "'<f4'", &imageBytes);
  unsigned char *labels = readNpy(argv[2], "test_labels.npy", "'|u1'", &labelBytes);
  size_t count = labelBytes;
  if (count == 0 || imageBytes != count * kPixels * sizeof(float))
    fail(argv[2], "does not hold one 8 x 8 image for each label");
  size_t padded = (count + batch - 1) / batch * batch;
  images = realloc(images, padded * kPixels * sizeof(float));
  float *logits = malloc(batch * kClasses * sizeof(float));
  if (!images || !logits)
    fail("host memory", "exhausted");
  memset(images + count * kPixels, 0, (padded - count) * kPixels * sizeof(float));

  size_t right = classifyAll(session, batch, images, labels, count, logits);
  /* The pass above was the warm-up. The passes of the next half second are measured. */
  size_t passes = 0;
  double begin = secondsNow(), elapsed;
  do {
    classifyAll(session, batch, images, labels, count, logits);
    ++passes;
    elapsed = secondsNow() - begin;
  } while (elapsed < 0.5);

  gantry_device_info_t info;
  gantry_device_get_info(device, &info);
  double accuracy = (double)right / (double)count;
  printf("device      %s\n", info.name);
  printf("accuracy    %.2f %% (%zu of %zu held-out images)\n", 100 * accuracy, right, count);
  printf("throughput  %.0f images/s (batches of %zu)\n", (double)(passes * count) / elapsed, batch);

  free(logits);
  free(labels);
  free(images);
  gantry_session_release(session);
  gantry_device_release(device);
  gantry_program_release(program);
  if (accuracy < 0.97) {
    fprintf(stderr, "digits_classify: accuracy %.2f %% is below 97 %%\n", 100 * accuracy);
    return 1;
  }
  return 0;
}
