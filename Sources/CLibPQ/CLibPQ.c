#include "CLibPQ.h"

#include <dlfcn.h>
#include <string.h>

struct tributary_libpq tributary_libpq;

static const char *const names[] = {
#define LIBPQ_NAME(result, name, parameters, arguments) #name,
    LIBPQ_FUNCTIONS(LIBPQ_NAME)
#undef LIBPQ_NAME
};

char *tributary_libpq_load(const char *file) {
    // Its threads and its callbacks outlive every connection: the library is never unloaded.
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return strdup(dlerror());
    // Pointers to functions and to data have one form on every POSIX system (dlsym(3)).
    void **functions = (void **)&tributary_libpq;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        functions[i] = dlsym(library, names[i]);
        if (!functions[i]) return strdup(dlerror());
    }
    return NULL;
}
