/* Compiles a model, runs it on one input, and prints the class with the highest score. Exit codes:
 * 0: success; 1: an error; 2: wrong usage.
 * Usage: classify_c model.onnx model.gantry input.raw (float32 values) */
#include <gantry/compiler.h>
#include <gantry/gantry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !GANTRY_VERSION_AT_LEAST(0, 1, 0) || GANTRY_VERSION_AT_LEAST(GANTRY_VERSION_MAJOR + 1, 0, 0)
#error "the comparison of versions is wrong"
#endif

static void check(gantry_status_t status, const char *what) {
  if (status == GANTRY_STATUS_OK)
    return;
  fprintf(stderr, "classify: %s: %s\n", what, gantry_last_error());
  exit(1);
}

static void diagnose(void *user, int severity, const char *message) {
  (void)user;
  fprintf(stderr, "classify: %s: %s\n", severity == 0 ? "error" : "note", message);
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  if (strcmp(gantry_version(), GANTRY_VERSION_STRING) != 0) {
    fprintf(stderr, "the library has version %s, its headers have version %s\n", gantry_version(),
            GANTRY_VERSION_STRING);
    return 1;
  }
  gantry_compile_options_t options = {.struct_size = sizeof options, .diagnostic = diagnose};
  if (gantry_compile(argv[1], argv[2], &options) != GANTRY_COMPILE_OK)
    return 1;

  gantry_program_t *program;
  gantry_device_t *device;
  gantry_session_t *session;
  check(gantry_program_load(argv[2], &program), "load");
  check(gantry_device_create(NULL, &device), "open a device");
  check(gantry_session_create(program, device, NULL, &session), "bind");

  gantry_port_info_t port;
  check(gantry_program_input(program, 0, &port), "read the input's description");
  gantry_tensor_t input = {.type = port.type, .rank = port.rank}, output = {0};
  input.size_bytes = gantry_type_size(port.type);
  for (uint32_t i = 0; i < port.rank; ++i)
    input.size_bytes *= input.dims[i] = port.dims[i];
  input.data = malloc(input.size_bytes);
  FILE *file = fopen(argv[3], "rb");
  if (!file || fread(input.data, 1, input.size_bytes, file) != input.size_bytes)
    return 1;
  fclose(file);
  check(gantry_session_output_shapes(session, &input, 1, &output, 1), "compute the output's size");
  float *scores = output.data = malloc(output.size_bytes);
  check(gantry_session_run(session, &input, 1, &output, 1), "run");

  size_t best = 0, count = output.size_bytes / sizeof *scores;
  for (size_t i = 1; i < count; ++i)
    best = scores[i] > scores[best] ? i : best;
  printf("class %zu of %zu, score %.5f\n", best, count, scores[best]);
  free(scores);
  free(input.data);
  gantry_session_release(session);
  gantry_device_release(device);
  gantry_program_release(program);
  return 0;
}
