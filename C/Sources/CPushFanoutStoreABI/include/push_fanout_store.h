/* Internal to libpushfanout-store.so. */
#ifndef PUSH_FANOUT_STORE_H
#define PUSH_FANOUT_STORE_H

#include "push_fanout_functions.h"

/* Opens a store, in Swift. */
int pf_swift_store_open(
  const char *path, int access, int32_t threads, pf_object *object, char **error);

#endif
