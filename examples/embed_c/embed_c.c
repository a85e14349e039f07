/* Runs a compiled model on one input and prints the class with the highest score.
 * Usage: embed_c model.gantry input.raw
 * input.raw holds the values of the model's only input in the input's element type, row-major. The
 * model has one output, of type float32. Exit codes: 1 with one line on stderr if a step fails, 2
 * for wrong usage. */
#include <gantry/gantry.h>
#include <stdio.h>
#include <stdlib.h>

static void check(gantry_status_t status, const char *what) {
  if (status == GANTRY_STATUS_OK)
    return;
  fprintf(stderr, "embed_c: %s: %s\n", what, gantry_last_error());
  exit(1);
}

int main(int argc, char **argv) {
  gantry_program_t *program;
  gantry_device_t *device;
  gantry_session_t *session;
  gantry_port_info_t port;
  gantry_tensor_t input = {0}, output = {0};
  if (argc != 3) {
    fprintf(stderr, "usage: embed_c model.gantry input.raw\n");
    return 2;
  }
  check(gantry_program_load(argv[1], &program), "load the model");
  check(gantry_device_create(NULL, &device), "open a device");
  check(gantry_session_create(program, device, NULL, &session), "bind the model to the device");

  check(gantry_program_input(program, 0, &port), "read the input's description");
  input.type = port.type;
  input.rank = port.rank;
  input.size_bytes = gantry_type_size(port.type);
  for (uint32_t i = 0; i < port.rank; ++i) /* Dynamic dimensions are 1. */
    input.size_bytes *= input.dims[i] = port.dims[i] == GANTRY_DYNAMIC ? 1 : port.dims[i];
  input.data = malloc(input.size_bytes);
  FILE *file = fopen(argv[2], "rb");
  if (!file || fread(input.data, 1, input.size_bytes, file) != input.size_bytes) {
    fprintf(stderr, "embed_c: %s: cannot be read, or has less than %llu bytes\n", argv[2],
            (unsigned long long)input.size_bytes);
    return 1;
  }
  fclose(file);

  check(gantry_session_output_shapes(session, &input, 1, &output, 1), "compute the output's size");
  float *scores = output.data = malloc(output.size_bytes);
  check(gantry_session_run(session, &input, 1, &output, 1), "run");
  size_t best = 0, count = output.size_bytes / sizeof(float);
  for (size_t i = 1; i < count; ++i)
    best = scores[i] > scores[best] ? i : best;
  printf("class %zu of %zu, score %g\n", best, count, scores[best]);

  free(scores);
  free(input.data);
  gantry_session_release(session);
  gantry_device_release(device);
  gantry_program_release(program);
  return 0;
}
