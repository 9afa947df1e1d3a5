#include "push_fanout_store.h"

int32_t pf_store_abi_version(void) { return PF_ABI_VERSION; }

int pf_store_open(
  const char *path, int access, const pf_options *options, pf_engine **engine, char **error) {
  if (error) *error = NULL;
  int32_t threads;
  int status = pf_threads(options, &threads, error);
  if (status != PF_OK) return status;
  if (!path) return pf_fail(error, PF_MISUSE, "the path is NULL");
  if (!engine) return pf_fail(error, PF_MISUSE, "a pointer for the result is NULL");
  if (access < PF_STORE_READ || access > PF_STORE_CREATE) {
    return pf_fail(error, PF_MISUSE, "access must be one of PF_STORE_");
  }
  if (pf_lost_threads()) {
    return pf_fail(
      error, PF_FORKED,
      "a store cannot be opened in a child of a process that has used threads; open it before any "
      "thread is used, or in a new process");
  }
  pf_note_threads();
  pf_object object = NULL;
  status = pf_swift_store_open(path, access, threads, &object, error);
  if (status != PF_OK) return status;
  return pf_make_engine(pf_swift_functions(), object, engine, error);
}
