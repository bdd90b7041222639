#ifndef FAULTY_DISK_H
#define FAULTY_DISK_H

/// What SQLite asks of a disk.
enum {
    TRIBUTARY_DISK_OPENS = 0,
    TRIBUTARY_DISK_READS = 1,
    TRIBUTARY_DISK_WRITES = 2,
    TRIBUTARY_DISK_CUTS = 3,
    TRIBUTARY_DISK_SYNCS = 4,
    /// It syncs the folder of a file, too, as SQLite's own VFS does with the first sync of a new journal.
    TRIBUTARY_DISK_SYNCS_FOLDER = 5,
    TRIBUTARY_DISK_DELETES = 6,
    /// It deletes a file, and syncs its folder.
    TRIBUTARY_DISK_DELETES_FOR_GOOD = 7,
    TRIBUTARY_DISK_SHARES = 8,
};

/// A call, before it is made.
typedef struct {
    int operation;
    /// The file's absolute path; of files without a name, which nobody else sees, nothing is asked.
    const char *_Nonnull path;
    /// What is written; NULL for other calls.
    const void *_Nullable bytes;
    /// The bytes that are read or written.
    int count;
    /// Where they are; the size to which a file is cut; 1 where a file is made unless there is one.
    long long at;
} tributary_disk_call;

/// What becomes of a call.
enum {
    TRIBUTARY_DISK_DOES = 0,
    /// It is not made, as there is no space.
    TRIBUTARY_DISK_FULL = 1,
    /// It is not made.
    TRIBUTARY_DISK_FAILS = 2,
    /// It is made, and said to have failed.
    TRIBUTARY_DISK_LIES = 3,
};

/// Has a function asked what becomes of each call, on the thread that makes it, for all databases that are opened from
/// then on.
///
/// Returns 0, or SQLite's code of the error.
int tributary_take_disk(int (*_Nonnull decide)(const tributary_disk_call *_Nonnull call));

/// Has SQLite ask a function for the time, in milliseconds since 1970, or have the machine's own where that is negative. For
/// databases whose disk is taken.
void tributary_take_clock(long long (*_Nonnull now)(void));

#endif
