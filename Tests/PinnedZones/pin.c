#include "PinnedZones.h"

#include <stdlib.h>
#include <string.h>

static char folder[4096];

const char *pinned_zones(void) { return folder; }

/// Has the tests, and the programs that they start, read the zones beside this file: before main, as
/// the database is opened once a process. A TZDIR of the environment stays as it is.
__attribute__((constructor)) static void pin(void) {
  const char *end = strrchr(__FILE__, '/');
  size_t length = end ? (size_t)(end - __FILE__) : 0;
  if (length + sizeof "/2025b" > sizeof folder) abort();
  memcpy(folder, __FILE__, length);
  strcpy(folder + length, end ? "/2025b" : "2025b");
  setenv("TZDIR", folder, 0);
}
