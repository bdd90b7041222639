/* A file server and a name server that do not answer. Any look at a path below a folder named `silent` waits for ever, as on
   NFS. A name that ends with `.silent` is looked up for twenty seconds, in vain; N.healthy is 127.0.1.N. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void wait_if_silent(const char *path)
{
    while (path && strstr(path, "/silent/"))
        pause();
}

int stat(const char *restrict path, struct stat *restrict status)
{
    wait_if_silent(path);
    return fstatat(AT_FDCWD, path, status, 0);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    wait_if_silent(path);
    return openat(AT_FDCWD, path, flags, mode);
}

int getaddrinfo(
    const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict found)
{
    int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    const char *end = name ? strrchr(name, '.') : NULL;
    char address[64];
    if (end && strcmp(end, ".silent") == 0) {
        sleep(20);
        return EAI_AGAIN;
    }
    if (end && strcmp(end, ".healthy") == 0) {
        snprintf(address, sizeof address, "127.0.1.%.*s", (int)(end - name), name);
        name = address;
    }
    return lookup(name, service, hints, found);
}
