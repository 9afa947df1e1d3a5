#define _GNU_SOURCE
#include <fcntl.h>

#include "CPushFiles.h"

void pf_start_writeback(int descriptor, size_t from, size_t count) {
  sync_file_range(descriptor, (off64_t)from, (off64_t)count, SYNC_FILE_RANGE_WRITE);
}
