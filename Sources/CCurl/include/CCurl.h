#pragma once
// libcurl, loaded with the first request for an address of sftp, ftps or ftp: it maps in OpenSSL, libssh2, Kerberos and LDAP,
// which other requests do without. Types, options and codes have libcurl's own names and values (libcurl-easy(3),
// libcurl-multi(3)), and its binary interface, which has been the same since version 4 of the library. No header of
// libcurl's is needed.
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef void CURL;
typedef void CURLM;
struct curl_slist;

enum {
    CURLOPT_NOBODY = 44,
    CURLOPT_DIRLISTONLY = 48,
    CURLOPT_FILETIME = 69,
    CURLOPT_BUFFERSIZE = 98,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_SSLVERSION = 32,
    CURLOPT_USE_SSL = 119,
    CURLOPT_FTP_SKIP_PASV_IP = 137,
    CURLOPT_FTP_FILEMETHOD = 138,
    CURLOPT_SSH_AUTH_TYPES = 151,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_TCP_KEEPALIVE = 213,
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_URL = 10002,
    CURLOPT_PROXY = 10004,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_QUOTE = 10028,
    CURLOPT_SSLCERT = 10025,
    CURLOPT_KEYPASSWD = 10026,
    CURLOPT_CUSTOMREQUEST = 10036,
    CURLOPT_CAINFO = 10065,
    CURLOPT_PREQUOTE = 10093,
    CURLOPT_SSLKEY = 10087,
    CURLOPT_SSH_PUBLIC_KEYFILE = 10152,
    CURLOPT_SSH_PRIVATE_KEYFILE = 10153,
    CURLOPT_OPENSOCKETDATA = 10164,
    CURLOPT_USERNAME = 10173,
    CURLOPT_PASSWORD = 10174,
    CURLOPT_SSH_KNOWNHOSTS = 10183,
    CURLOPT_SSH_KEYDATA = 10185,
    CURLOPT_RESOLVE = 10203,
    CURLOPT_CLOSESOCKETDATA = 10209,
    CURLOPT_PROTOCOLS_STR = 10318,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_OPENSOCKETFUNCTION = 20163,
    CURLOPT_SSH_KEYFUNCTION = 20184,
    CURLOPT_CLOSESOCKETFUNCTION = 20208,
    CURLOPT_RESUME_FROM_LARGE = 30116,
};

enum {
    CURLINFO_PRIMARY_IP = 0x100000 + 32,
    CURLINFO_RESPONSE_CODE = 0x200000 + 2,
    CURLINFO_OS_ERRNO = 0x200000 + 25,
    CURLINFO_FILETIME_T = 0x600000 + 14,
    CURLINFO_CONTENT_LENGTH_DOWNLOAD_T = 0x600000 + 15,
};

enum {
    CURLE_OK = 0,
    CURLE_UNSUPPORTED_PROTOCOL = 1,
    CURLE_COULDNT_CONNECT = 7,
    CURLE_REMOTE_ACCESS_DENIED = 9,
    CURLE_PARTIAL_FILE = 18,
    CURLE_FTP_COULDNT_RETR_FILE = 19,
    CURLE_QUOTE_ERROR = 21,
    CURLE_OPERATION_TIMEDOUT = 28,
    CURLE_SSL_CONNECT_ERROR = 35,
    CURLE_BAD_DOWNLOAD_RESUME = 36,
    CURLE_UNKNOWN_OPTION = 48,
    CURLE_GOT_NOTHING = 52,
    CURLE_SEND_ERROR = 55,
    CURLE_RECV_ERROR = 56,
    CURLE_SSL_CERTPROBLEM = 58,
    CURLE_SSL_CIPHER = 59,
    CURLE_PEER_FAILED_VERIFICATION = 60,
    CURLE_USE_SSL_FAILED = 64,
    CURLE_LOGIN_DENIED = 67,
    CURLE_SSL_CACERT_BADFILE = 77,
    CURLE_REMOTE_FILE_NOT_FOUND = 78,
    CURLE_SSH = 79,
};

enum { CURLUSESSL_NONE, CURLUSESSL_TRY, CURLUSESSL_CONTROL, CURLUSESSL_ALL };
enum { CURL_SSLVERSION_TLSv1_2 = 6 };
enum { CURLFTPMETHOD_SINGLECWD = 3 };
enum { CURLSSH_AUTH_PUBLICKEY = 1, CURLSSH_AUTH_PASSWORD = 2, CURLSSH_AUTH_KEYBOARD = 8 };
enum { CURL_ERROR_SIZE = 256 };
enum { CURL_SOCKET_BAD = -1 };

struct curl_sockaddr {
    int family;
    int socktype;
    int protocol;
    unsigned int addrlen;
    struct sockaddr addr;
};

// A host key: in base64 where the length is zero.
struct curl_khkey {
    const char *key;
    size_t len;
    int keytype;
};

enum { CURLKHTYPE_UNKNOWN, CURLKHTYPE_RSA1, CURLKHTYPE_RSA, CURLKHTYPE_DSS, CURLKHTYPE_ECDSA, CURLKHTYPE_ED25519 };
enum { CURLKHMATCH_OK, CURLKHMATCH_MISMATCH, CURLKHMATCH_MISSING };
enum { CURLKHSTAT_FINE_ADD_TO_FILE, CURLKHSTAT_FINE, CURLKHSTAT_REJECT };

typedef size_t (*tributary_curl_write)(char *bytes, size_t size, size_t count, void *context);
typedef int (*tributary_curl_open)(void *context, int purpose, struct curl_sockaddr *address);
typedef int (*tributary_curl_close)(void *context, int descriptor);
typedef int (*tributary_curl_key)(
    CURL *easy, const struct curl_khkey *known, const struct curl_khkey *found, int match, void *context);

// Loads the library, and finds every function. Not thread-safe; to be called once, before any other function.
//
// - file: the name of the library, or its path.
// - Returns: null, or the reason why it cannot be loaded, to be given back to free().
char *tributary_curl_load(const char *file);

CURL *tributary_curl_easy(void);
CURLM *tributary_curl_multi(void);
void tributary_curl_free(CURL *easy, CURLM *multi, struct curl_slist *list);
int tributary_curl_set_number(CURL *easy, int option, long value);
int tributary_curl_set_offset(CURL *easy, int option, int64_t value);
int tributary_curl_set_pointer(CURL *easy, int option, const void *value);
int tributary_curl_set_callbacks(
    CURL *easy, tributary_curl_write write, tributary_curl_open open, tributary_curl_key key, void *context);
// What closes sockets is called until the handles are freed.
int tributary_curl_set_close(CURL *easy, tributary_curl_close close, void *context);
// What is known of a transfer; -1, zero or null where it is not.
int64_t tributary_curl_offset(CURL *easy, int info);
long tributary_curl_number(CURL *easy, int info);
const char *tributary_curl_text(CURL *easy, int info);
const char *tributary_curl_error(int code);
struct curl_slist *tributary_curl_append(struct curl_slist *list, const char *text);
void tributary_curl_free_list(struct curl_slist *list);
int tributary_curl_begin(CURLM *multi, CURL *easy);
void tributary_curl_end(CURLM *multi, CURL *easy);
int tributary_curl_perform(CURLM *multi, int *running);
int tributary_curl_wait(CURLM *multi, int milliseconds);
// Returns the code of a transfer that has ended.
int tributary_curl_result(CURLM *multi);
