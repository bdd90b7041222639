#include "CCurl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct {
    int (*global_init)(long flags);
    CURL *(*easy_init)(void);
    void (*easy_cleanup)(CURL *easy);
    int (*easy_setopt)(CURL *easy, int option, ...);
    int (*easy_getinfo)(CURL *easy, int info, ...);
    const char *(*easy_strerror)(int code);
    CURLM *(*multi_init)(void);
    int (*multi_cleanup)(CURLM *multi);
    int (*multi_add_handle)(CURLM *multi, CURL *easy);
    int (*multi_remove_handle)(CURLM *multi, CURL *easy);
    int (*multi_perform)(CURLM *multi, int *running);
    int (*multi_poll)(CURLM *multi, void *descriptors, unsigned count, int milliseconds, int *ready);
    struct message *(*multi_info_read)(CURLM *multi, int *left);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
} curl;

struct message {
    int message;
    CURL *easy;
    union {
        void *whatever;
        int result;
    } data;
};

// In the order of the members above.
static const char *const names[] = {
    "curl_global_init", "curl_easy_init", "curl_easy_cleanup", "curl_easy_setopt", "curl_easy_getinfo",
    "curl_easy_strerror", "curl_multi_init", "curl_multi_cleanup", "curl_multi_add_handle", "curl_multi_remove_handle",
    "curl_multi_perform", "curl_multi_poll", "curl_multi_info_read", "curl_slist_append", "curl_slist_free_all",
};

char *tributary_curl_load(const char *file) {
    // Threads that look up names may outlive a connection: the library is never unloaded.
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return strdup(dlerror());
    // Pointers to functions and to data have one form on every POSIX system (dlsym(3)).
    void **functions = (void **)&curl;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        functions[i] = dlsym(library, names[i]);
        if (!functions[i]) return strdup(dlerror());
    }
    const long everything = 3;
    int code = curl.global_init(everything);
    return code ? strdup(curl.easy_strerror(code)) : NULL;
}

CURL *tributary_curl_easy(void) { return curl.easy_init(); }

CURLM *tributary_curl_multi(void) { return curl.multi_init(); }

static size_t discard(char *bytes, size_t size, size_t count, void *context) { return size * count; }

void tributary_curl_free(CURL *easy, CURLM *multi, struct curl_slist *list) {
    // Whoever had the callbacks may be gone.
    tributary_curl_set_callbacks(easy, discard, NULL, NULL, NULL);
    curl.easy_cleanup(easy);
    curl.multi_cleanup(multi);
    curl.slist_free_all(list);
}

int tributary_curl_set_number(CURL *easy, int option, long value) { return curl.easy_setopt(easy, option, value); }

int tributary_curl_set_offset(CURL *easy, int option, int64_t value) { return curl.easy_setopt(easy, option, value); }

int tributary_curl_set_pointer(CURL *easy, int option, const void *value) {
    return curl.easy_setopt(easy, option, value);
}

int tributary_curl_set_callbacks(
    CURL *easy, tributary_curl_write write, tributary_curl_open open, tributary_curl_key key, void *context) {
    int code = curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_WRITEDATA, context);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_SSH_KEYFUNCTION, key);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_SSH_KEYDATA, context);
    return code;
}

int tributary_curl_set_close(CURL *easy, tributary_curl_close close, void *context) {
    int code = curl.easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close);
    return code ? code : curl.easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context);
}

int64_t tributary_curl_offset(CURL *easy, int info) {
    int64_t value = -1;
    return curl.easy_getinfo(easy, info, &value) ? -1 : value;
}

long tributary_curl_number(CURL *easy, int info) {
    long value = 0;
    return curl.easy_getinfo(easy, info, &value) ? 0 : value;
}

const char *tributary_curl_text(CURL *easy, int info) {
    const char *value = NULL;
    return curl.easy_getinfo(easy, info, &value) ? NULL : value;
}

const char *tributary_curl_error(int code) { return curl.easy_strerror(code); }

struct curl_slist *tributary_curl_append(struct curl_slist *list, const char *text) {
    return curl.slist_append(list, text);
}

void tributary_curl_free_list(struct curl_slist *list) { curl.slist_free_all(list); }

int tributary_curl_begin(CURLM *multi, CURL *easy) { return curl.multi_add_handle(multi, easy); }

void tributary_curl_end(CURLM *multi, CURL *easy) { curl.multi_remove_handle(multi, easy); }

int tributary_curl_perform(CURLM *multi, int *running) { return curl.multi_perform(multi, running); }

int tributary_curl_wait(CURLM *multi, int milliseconds) { return curl.multi_poll(multi, NULL, 0, milliseconds, NULL); }

int tributary_curl_result(CURLM *multi) {
    const int done = 1;
    int left = 0;
    struct message *message;
    while ((message = curl.multi_info_read(multi, &left)))
        if (message->message == done) return message->data.result;
    return -1;
}
