/* An array of floats where the problem says doubles, in a program built with the address sanitizer: FOURTUNE_CHECK knows its
 * length, small as it is, and says so instead of reading on. */
#include <fourtune/fourtune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 100 };

int main(void) {
  fourtune_transform* transform;
  if (fourtune_create("nufft:type=1,n=8,prec=f64,tol=1e-6", NULL, &transform) != FOURTUNE_SUCCESS) return 2;
  float* floats = calloc(M, sizeof *floats);
  double* doubles = calloc(M, sizeof *doubles);
  const fourtune_status refused = fourtune_set_points(transform, M, floats, NULL, NULL, 0, NULL, NULL, NULL);
  printf("%s: %s\n", fourtune_status_name(refused), fourtune_last_error());
  const int named =
      refused == FOURTUNE_INVALID_ARGUMENT &&
      strstr(fourtune_last_error(), "set_points: x needs 800 bytes, and its memory ends after 400") != NULL;
  const int right = fourtune_set_points(transform, M, doubles, NULL, NULL, 0, NULL, NULL, NULL) == FOURTUNE_SUCCESS;
  fourtune_destroy(transform);
  free(floats);
  free(doubles);
  return named && right ? 0 : 1;
}
