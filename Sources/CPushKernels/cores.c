#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "CPushKernels.h"

size_t pk_core_count(void) {
  cpu_set_t cores;
  // Fails where the kernel supports more cores than the set has bits.
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return (size_t)CPU_COUNT(&cores);
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (size_t)count : 1;
}
