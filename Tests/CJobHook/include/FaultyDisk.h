#ifndef FAULTY_DISK_H
#define FAULTY_DISK_H

/// What becomes of a write.
enum {
    TRIBUTARY_DISK_WRITES = 0,
    /// It is not made, as there is no space.
    TRIBUTARY_DISK_FULL = 1,
    /// It is not made.
    TRIBUTARY_DISK_FAILS = 2,
    /// It is made, and said to have failed.
    TRIBUTARY_DISK_LIES = 3,
};

/// Has a function asked what becomes of each write of SQLite, for all databases that are opened from then on.
///
/// Returns 0, or SQLite's code of the error.
int tributary_take_writes(int (*_Nonnull decide)(void));

#endif
