// A VFS before SQLite's own (vfs.html; test_vfs.c and test6.c of SQLite's sources), whose writes fail where a function says so.
#include "FaultyDisk.h"
#include <sqlite3.h>
#include <stddef.h>

typedef struct {
    sqlite3_file base;
    sqlite3_file *real;
} File;

static sqlite3_vfs *machine;
static sqlite3_vfs faulty;
static int (*decide)(void);

#define REAL(file) (((File *)(file))->real)
#define CALL(file, method, ...) REAL(file)->pMethods->method(REAL(file), ##__VA_ARGS__)

static int closeFile(sqlite3_file *file) { return CALL(file, xClose); }
static int readFile(sqlite3_file *file, void *to, int count, sqlite3_int64 at) { return CALL(file, xRead, to, count, at); }

static int writeFile(sqlite3_file *file, const void *from, int count, sqlite3_int64 at) {
    switch (decide()) {
    case TRIBUTARY_DISK_FULL: return SQLITE_FULL;
    case TRIBUTARY_DISK_FAILS: return SQLITE_IOERR_WRITE;
    case TRIBUTARY_DISK_LIES: CALL(file, xWrite, from, count, at); return SQLITE_IOERR_WRITE;
    default: return CALL(file, xWrite, from, count, at);
    }
}

static int truncateFile(sqlite3_file *file, sqlite3_int64 size) { return CALL(file, xTruncate, size); }

static int syncFile(sqlite3_file *file, int flags) {
    return decide() ? SQLITE_IOERR_FSYNC : CALL(file, xSync, flags);
}

static int sizeOfFile(sqlite3_file *file, sqlite3_int64 *size) { return CALL(file, xFileSize, size); }
static int lockFile(sqlite3_file *file, int lock) { return CALL(file, xLock, lock); }
static int unlockFile(sqlite3_file *file, int lock) { return CALL(file, xUnlock, lock); }
static int checkLock(sqlite3_file *file, int *result) { return CALL(file, xCheckReservedLock, result); }
static int controlFile(sqlite3_file *file, int what, void *argument) { return CALL(file, xFileControl, what, argument); }
static int sectorSize(sqlite3_file *file) { return CALL(file, xSectorSize); }
static int characteristics(sqlite3_file *file) { return CALL(file, xDeviceCharacteristics); }

static int mapShared(sqlite3_file *file, int region, int size, int extends, void volatile **memory) {
    return CALL(file, xShmMap, region, size, extends, memory);
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
    int code = machine->xOpen(machine, name, opened->real, flags, flagsOut);
    // A file without methods is not closed.
    opened->base.pMethods = opened->real->pMethods ? &methods : NULL;
    return code;
}

int tributary_take_writes(int (*function)(void)) {
    decide = function;
    if (machine) return SQLITE_OK;
    sqlite3_vfs *found = sqlite3_vfs_find(NULL);
    if (!found) return SQLITE_ERROR;
    faulty = *found;
    faulty.zName = "tributary-faulty";
    faulty.szOsFile = (int)sizeof(File) + found->szOsFile;
    faulty.xOpen = openFile;
    machine = found;
    return sqlite3_vfs_register(&faulty, 1);
}
