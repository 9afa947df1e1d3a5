#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "CPushKernels.h"

// The cores that `cpu.max` of one group allows, rounded up: "150000 100000" is 2; 0 for "max".
// Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files".
static size_t quota_of(const char *folder) {
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/cpu.max", folder);
  FILE *file = fopen(path, "re");
  if (file == NULL) return 0;
  unsigned long long quota, period;
  int found = fscanf(file, "%llu %llu", &quota, &period);
  fclose(file);
  if (found != 2 || quota == 0 || period == 0) return 0;
  return (size_t)(quota / period + (quota % period != 0));
}

size_t pk_quota_cores(const char *root, const char *group) {
  char folder[PATH_MAX];
  int length = snprintf(folder, sizeof folder, "%s%s", root, group);
  if (length < 0 || (size_t)length >= sizeof folder) return 0;
  size_t cores = 0;
  // A group may use what it and all groups around it allow.
  while (1) {
    size_t allowed = quota_of(folder);
    if (allowed > 0 && (cores == 0 || allowed < cores)) cores = allowed;
    char *end = strrchr(folder, '/');
    if (end == NULL || end < folder + strlen(root)) return cores;
    *end = 0;
  }
}

// Of the group of this process, in version 2 of control groups.
static size_t own_quota(void) {
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) return 0;
  char line[PATH_MAX];
  size_t cores = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "0::/", 4) != 0) continue;
    line[strcspn(line, "\n")] = 0;
    cores = pk_quota_cores("/sys/fs/cgroup", line + 3);
  }
  fclose(file);
  return cores;
}

size_t pk_core_count(void) {
  cpu_set_t set;
  size_t cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    cores = (size_t)CPU_COUNT(&set);
  } else {
    // The kernel supports more cores than the set has bits.
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    cores = count > 0 ? (size_t)count : 1;
  }
  size_t quota = own_quota();
  return quota > 0 && quota < cores ? quota : cores;
}
