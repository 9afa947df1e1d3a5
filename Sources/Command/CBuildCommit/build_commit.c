#include "build_commit.h"

#ifndef PUSH_FANOUT_COMMIT
#define PUSH_FANOUT_COMMIT "development"
#endif

const char *build_commit(void) { return PUSH_FANOUT_COMMIT; }
