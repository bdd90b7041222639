#pragma once
// PostgreSQL's client library, loaded when the first store in PostgreSQL is opened: it maps in OpenSSL, Kerberos and LDAP,
// which a store in a file does without. Types and functions have libpq's own names and meanings ("libpq - C Library"), and
// its binary interface, which has been the same since version 5 of the library. No header of PostgreSQL's is needed.
#include <stddef.h>

typedef unsigned int Oid;
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef struct pg_cancel PGcancel;
typedef void (*PQnoticeReceiver)(void *context, const PGresult *result);

typedef enum { CONNECTION_OK, CONNECTION_BAD } ConnStatusType;

typedef enum {
    PGRES_EMPTY_QUERY,
    PGRES_COMMAND_OK,
    PGRES_TUPLES_OK,
    PGRES_COPY_OUT,
    PGRES_COPY_IN,
    PGRES_BAD_RESPONSE,
    PGRES_NONFATAL_ERROR,
    PGRES_FATAL_ERROR,
    PGRES_COPY_BOTH,
    PGRES_SINGLE_TUPLE,
    PGRES_PIPELINE_SYNC,
    PGRES_PIPELINE_ABORTED,
} ExecStatusType;

typedef enum {
    PQTRANS_IDLE,
    PQTRANS_ACTIVE,
    PQTRANS_INTRANS,
    PQTRANS_INERROR,
    PQTRANS_UNKNOWN,
} PGTransactionStatusType;


typedef struct pgNotify {
    char *relname;
    int be_pid;
    char *extra;
    struct pgNotify *next;
} PGnotify;

typedef struct {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

// Each function: its result, its name, its parameters, and the names of those.
#define LIBPQ_FUNCTIONS(CALL) \
    CALL(char *, PQcmdStatus, (PGresult *result), (result)) \
    CALL(char *, PQcmdTuples, (PGresult *result), (result)) \
    CALL(PGconn *, PQconnectdbParams, (const char *const *keywords, const char *const *values, int expandsName), (keywords, values, expandsName)) \
    CALL(PGconn *, PQconnectStartParams, (const char *const *keywords, const char *const *values, int expandsName), (keywords, values, expandsName)) \
    CALL(void, PQfinish, (PGconn *connection), (connection)) \
    CALL(PQconninfoOption *, PQconninfo, (PGconn *connection), (connection)) \
    CALL(PQconninfoOption *, PQconninfoParse, (const char *string, char **message), (string, message)) \
    CALL(void, PQconninfoFree, (PQconninfoOption *options), (options)) \
    CALL(ConnStatusType, PQstatus, (const PGconn *connection), (connection)) \
    CALL(PGTransactionStatusType, PQtransactionStatus, (const PGconn *connection), (connection)) \
    CALL(const char *, PQparameterStatus, (const PGconn *connection, const char *name), (connection, name)) \
    CALL(int, PQserverVersion, (const PGconn *connection), (connection)) \
    CALL(int, PQbackendPID, (const PGconn *connection), (connection)) \
    CALL(int, PQsocket, (const PGconn *connection), (connection)) \
    CALL(char *, PQhost, (const PGconn *connection), (connection)) \
    CALL(char *, PQport, (const PGconn *connection), (connection)) \
    CALL(char *, PQdb, (const PGconn *connection), (connection)) \
    CALL(char *, PQuser, (const PGconn *connection), (connection)) \
    CALL(char *, PQerrorMessage, (const PGconn *connection), (connection)) \
    CALL(int, PQsetnonblocking, (PGconn *connection, int value), (connection, value)) \
    CALL(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn *connection, PQnoticeReceiver receiver, void *context), (connection, receiver, context)) \
    CALL(PGcancel *, PQgetCancel, (PGconn *connection), (connection)) \
    CALL(int, PQcancel, (PGcancel *cancel, char *message, int capacity), (cancel, message, capacity)) \
    CALL(void, PQfreeCancel, (PGcancel *cancel), (cancel)) \
    CALL(int, PQsendQuery, (PGconn *connection, const char *script), (connection, script)) \
    CALL(int, PQsendQueryParams, (PGconn *connection, const char *statement, int count, const Oid *types, const char *const *values, const int *lengths, const int *formats, int resultFormat), (connection, statement, count, types, values, lengths, formats, resultFormat)) \
    CALL(int, PQsendPrepare, (PGconn *connection, const char *name, const char *statement, int count, const Oid *types), (connection, name, statement, count, types)) \
    CALL(int, PQsendQueryPrepared, (PGconn *connection, const char *name, int count, const char *const *values, const int *lengths, const int *formats, int resultFormat), (connection, name, count, values, lengths, formats, resultFormat)) \
    CALL(int, PQsetSingleRowMode, (PGconn *connection), (connection)) \
    CALL(int, PQflush, (PGconn *connection), (connection)) \
    CALL(int, PQconsumeInput, (PGconn *connection), (connection)) \
    CALL(int, PQisBusy, (PGconn *connection), (connection)) \
    CALL(PGresult *, PQgetResult, (PGconn *connection), (connection)) \
    CALL(PGnotify *, PQnotifies, (PGconn *connection), (connection)) \
    CALL(int, PQputCopyData, (PGconn *connection, const char *data, int count), (connection, data, count)) \
    CALL(int, PQputCopyEnd, (PGconn *connection, const char *error), (connection, error)) \
    CALL(int, PQgetCopyData, (PGconn *connection, char **data, int isAsynchronous), (connection, data, isAsynchronous)) \
    CALL(int, PQenterPipelineMode, (PGconn *connection), (connection)) \
    CALL(int, PQexitPipelineMode, (PGconn *connection), (connection)) \
    CALL(int, PQpipelineSync, (PGconn *connection), (connection)) \
    CALL(void, PQclear, (PGresult *result), (result)) \
    CALL(ExecStatusType, PQresultStatus, (const PGresult *result), (result)) \
    CALL(char *, PQresultErrorMessage, (const PGresult *result), (result)) \
    CALL(char *, PQresultErrorField, (const PGresult *result, int field), (result, field)) \
    CALL(int, PQntuples, (const PGresult *result), (result)) \
    CALL(int, PQnfields, (const PGresult *result), (result)) \
    CALL(char *, PQfname, (const PGresult *result, int column), (result, column)) \
    CALL(Oid, PQftype, (const PGresult *result, int column), (result, column)) \
    CALL(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column)) \
    CALL(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column)) \
    CALL(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column)) \
    CALL(void, PQfreemem, (void *memory), (memory))

// The functions of the library; null before it is loaded.
#define LIBPQ_POINTER(result, name, parameters, arguments) result(*name) parameters;
struct tributary_libpq {
    LIBPQ_FUNCTIONS(LIBPQ_POINTER)
};
#undef LIBPQ_POINTER
extern struct tributary_libpq tributary_libpq;

// Loads the library, and finds every function. Not thread-safe; to be called once, before any other function.
//
// - file: the name of the library, or its path.
// - Returns: null, or the reason why it cannot be loaded, to be given back to free().
char *tributary_libpq_load(const char *file);

#define LIBPQ_CALL(result, name, parameters, arguments) \
    static inline result name parameters { return tributary_libpq.name arguments; }
LIBPQ_FUNCTIONS(LIBPQ_CALL)
#undef LIBPQ_CALL
