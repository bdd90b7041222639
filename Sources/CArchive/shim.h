#pragma once
#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/// `AE_IFREG` is a cast, which Swift does not import. True for a file with data of its own: no folder, device or link.
static inline int tributary_is_file(struct archive_entry *entry) {
    return archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry) && !archive_entry_symlink(entry);
}

/// A locale in which names in UTF-8 are read as they are; null where the system has none. libarchive goes by the thread's.
static inline locale_t tributary_utf8_locale(void) { return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

/// Reads the next header with names in UTF-8.
static inline int tributary_next_header(struct archive *archive, struct archive_entry **entry, locale_t names) {
    locale_t own = names ? uselocale(names) : (locale_t)0;
    int status = archive_read_next_header(archive, entry);
    const char *name = status == ARCHIVE_OK || status == ARCHIVE_WARN ? archive_entry_pathname(*entry) : 0;
    (void)name;
    if (names) uselocale(own);
    return status;
}
