// A VFS before SQLite's own (vfs.html; test_vfs.c and test6.c of SQLite's sources), whose calls fail where a function says so.
#include "FaultyDisk.h"
#include <sqlite3.h>
#include <stddef.h>

typedef struct {
    sqlite3_file base;
    sqlite3_file *real;
    const char *path;
    // SQLite's own VFS syncs the folder with the first sync of this file.
    int isNewJournal;
} File;

static sqlite3_vfs *machine;
static sqlite3_vfs faulty;
static int (*decide)(const tributary_disk_call *call);
static long long (*tell)(void);

#define REAL(file) (((File *)(file))->real)
#define CALL(file, method, ...) REAL(file)->pMethods->method(REAL(file), ##__VA_ARGS__)

static int ask(int operation, const char *path, const void *bytes, int count, sqlite3_int64 at) {
    if (!path) return TRIBUTARY_DISK_DOES;
    tributary_disk_call call = {operation, path, bytes, count, at};
    return decide(&call);
}

// Makes a call as the function says, or returns this code of an error.
#define UNLESS_IT_FAILS(fate, error, call) \
    switch (fate) { \
    case TRIBUTARY_DISK_FULL: return SQLITE_FULL; \
    case TRIBUTARY_DISK_FAILS: return error; \
    case TRIBUTARY_DISK_LIES: call; return error; \
    default: return call; \
    }

static int askOfFile(sqlite3_file *file, int operation, const void *bytes, int count, sqlite3_int64 at) {
    return ask(operation, ((File *)file)->path, bytes, count, at);
}

static int closeFile(sqlite3_file *file) { return CALL(file, xClose); }

static int readFile(sqlite3_file *file, void *to, int count, sqlite3_int64 at) {
    int fate = askOfFile(file, TRIBUTARY_DISK_READS, NULL, count, at);
    return fate ? SQLITE_IOERR_READ : CALL(file, xRead, to, count, at);
}

static int writeFile(sqlite3_file *file, const void *from, int count, sqlite3_int64 at) {
    int fate = askOfFile(file, TRIBUTARY_DISK_WRITES, from, count, at);
    UNLESS_IT_FAILS(fate, SQLITE_IOERR_WRITE, CALL(file, xWrite, from, count, at))
}

static int truncateFile(sqlite3_file *file, sqlite3_int64 size) {
    int fate = askOfFile(file, TRIBUTARY_DISK_CUTS, NULL, 0, size);
    UNLESS_IT_FAILS(fate, SQLITE_IOERR_TRUNCATE, CALL(file, xTruncate, size))
}

static int syncFile(sqlite3_file *file, int flags) {
    File *synced = (File *)file;
    int operation = synced->isNewJournal ? TRIBUTARY_DISK_SYNCS_FOLDER : TRIBUTARY_DISK_SYNCS;
    if (askOfFile(file, operation, NULL, 0, 0)) return SQLITE_IOERR_FSYNC;
    synced->isNewJournal = 0;
    return CALL(file, xSync, flags);
}

static int sizeOfFile(sqlite3_file *file, sqlite3_int64 *size) { return CALL(file, xFileSize, size); }
static int lockFile(sqlite3_file *file, int lock) { return CALL(file, xLock, lock); }
static int unlockFile(sqlite3_file *file, int lock) { return CALL(file, xUnlock, lock); }
static int checkLock(sqlite3_file *file, int *result) { return CALL(file, xCheckReservedLock, result); }
static int controlFile(sqlite3_file *file, int what, void *argument) { return CALL(file, xFileControl, what, argument); }
static int sectorSize(sqlite3_file *file) { return CALL(file, xSectorSize); }
static int characteristics(sqlite3_file *file) { return CALL(file, xDeviceCharacteristics); }

static int mapShared(sqlite3_file *file, int region, int size, int extends, void volatile **memory) {
    int fate = askOfFile(file, TRIBUTARY_DISK_SHARES, NULL, size, (sqlite3_int64)region * size);
    return fate ? SQLITE_IOERR_SHMMAP : CALL(file, xShmMap, region, size, extends, memory);
}

static int lockShared(sqlite3_file *file, int offset, int count, int flags) {
    return CALL(file, xShmLock, offset, count, flags);
}

static void barrier(sqlite3_file *file) { CALL(file, xShmBarrier); }
static int unmapShared(sqlite3_file *file, int removes) { return CALL(file, xShmUnmap, removes); }

static int fetchPage(sqlite3_file *file, sqlite3_int64 at, int count, void **page) {
    return CALL(file, xFetch, at, count, page);
}

static int unfetchPage(sqlite3_file *file, sqlite3_int64 at, void *page) { return CALL(file, xUnfetch, at, page); }

// The methods of SQLite's own files on Unix are of this version, too.
static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = closeFile,
    .xRead = readFile,
    .xWrite = writeFile,
    .xTruncate = truncateFile,
    .xSync = syncFile,
    .xFileSize = sizeOfFile,
    .xLock = lockFile,
    .xUnlock = unlockFile,
    .xCheckReservedLock = checkLock,
    .xFileControl = controlFile,
    .xSectorSize = sectorSize,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = mapShared,
    .xShmLock = lockShared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmapShared,
    .xFetch = fetchPage,
    .xUnfetch = unfetchPage,
};

static int openFile(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flagsOut) {
    File *opened = (File *)file;
    opened->real = (sqlite3_file *)(opened + 1);
    opened->path = name;
    // A file without methods is not closed.
    opened->base.pMethods = NULL;
    int journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
    opened->isNewJournal = (flags & SQLITE_OPEN_CREATE) && (flags & journals);
    if (ask(TRIBUTARY_DISK_OPENS, name, NULL, 0, flags & SQLITE_OPEN_CREATE ? 1 : 0)) return SQLITE_CANTOPEN;
    int code = machine->xOpen(machine, name, opened->real, flags, flagsOut);
    opened->base.pMethods = opened->real->pMethods ? &methods : NULL;
    return code;
}

static int deleteFile(sqlite3_vfs *vfs, const char *name, int syncsFolder) {
    int operation = syncsFolder ? TRIBUTARY_DISK_DELETES_FOR_GOOD : TRIBUTARY_DISK_DELETES;
    UNLESS_IT_FAILS(
        ask(operation, name, NULL, 0, 0), SQLITE_IOERR_DELETE, machine->xDelete(machine, name, syncsFolder))
}

// The milliseconds from noon in Greenwich on November 24, 4714 B.C. (c3ref/vfs.html), to 1970.
#define JULIAN_EPOCH 210866760000000LL

static int currentTimeMilliseconds(sqlite3_vfs *vfs, sqlite3_int64 *time) {
    long long milliseconds = tell ? tell() : -1;
    if (milliseconds < 0) return machine->xCurrentTimeInt64(machine, time);
    *time = milliseconds + JULIAN_EPOCH;
    return SQLITE_OK;
}

static int currentTime(sqlite3_vfs *vfs, double *time) {
    sqlite3_int64 milliseconds;
    int code = currentTimeMilliseconds(vfs, &milliseconds);
    *time = milliseconds / 86400000.0;
    return code;
}

void tributary_take_clock(long long (*function)(void)) { tell = function; }

int tributary_take_disk(int (*function)(const tributary_disk_call *call)) {
    decide = function;
    if (machine) return SQLITE_OK;
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (!found) return SQLITE_ERROR;
    faulty = *found;
    faulty.zName = "tributary-faulty";
    faulty.szOsFile = (int)sizeof(File) + found->szOsFile;
    faulty.xOpen = openFile;
    faulty.xDelete = deleteFile;
    faulty.xCurrentTime = currentTime;
    faulty.xCurrentTimeInt64 = currentTimeMilliseconds;
    machine = found;
    return sqlite3_vfs_register(&faulty, 1);
}
