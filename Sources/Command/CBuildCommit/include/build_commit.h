/* The commit that the program was built from. */
#ifndef BUILD_COMMIT_H
#define BUILD_COMMIT_H

/* Its first digits in packages and releases, for which PUSH_FANOUT_COMMIT is set; "development" else. */
const char *build_commit(void);

#endif
