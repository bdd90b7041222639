#include "CBuildCommit.h"

#ifndef TRIBUTARY_COMMIT
#define TRIBUTARY_COMMIT ((const char *)0)
#endif

const char *tributary_build_commit(void) { return TRIBUTARY_COMMIT; }
