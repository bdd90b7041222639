#pragma once
#include <zlib.h>

/// `inflateInit2` is a macro, which Swift does not import. 15 + 32: the largest window, zlib and gzip
/// headers that zlib itself distinguishes (zlib.h, "inflateInit2").
static inline int tributary_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 32); }

/// Raw deflate, which some servers send for `Content-Encoding: deflate` (RFC 9110, section 8.4.1.2, note).
static inline int tributary_inflate_init_raw(z_stream *stream) { return inflateInit2(stream, -15); }

/// `deflateInit2` is a macro, too. Raw deflate: at the lowest level, which takes a third of the time of the usual one, or
/// stored as it is (`compresses` 0), which takes next to none.
static inline int tributary_deflate_init_raw(z_stream *stream, int compresses) {
    return deflateInit2(stream, compresses ? Z_BEST_SPEED : Z_NO_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
}
