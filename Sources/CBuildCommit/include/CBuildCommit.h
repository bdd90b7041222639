#ifndef TRIBUTARY_BUILD_COMMIT_H
#define TRIBUTARY_BUILD_COMMIT_H

/// The short name of the commit that the program is built from, or NULL if the build does not define it.
const char *_Nullable tributary_build_commit(void);

#endif
