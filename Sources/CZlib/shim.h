#pragma once
#include <zlib.h>

/// `inflateInit2` is a macro, which Swift does not import. 15 + 32: the largest window, zlib and gzip
/// headers told apart by zlib itself (zlib.h, "inflateInit2").
static inline int tributary_inflate_init(z_stream *stream) { return inflateInit2(stream, 15 + 32); }

/// Raw deflate, which some servers send for `Content-Encoding: deflate` (RFC 9110, section 8.4.1.2, note).
static inline int tributary_inflate_init_raw(z_stream *stream) { return inflateInit2(stream, -15); }
