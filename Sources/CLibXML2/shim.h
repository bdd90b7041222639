#pragma once
#include <libxml/xmlversion.h>
// Debian's libxml2 includes ICU's headers, which clash with the ICU inside Foundation. No call that we make needs them.
#undef LIBXML_ICU_ENABLED
#include <libxml/HTMLparser.h>
#include <libxml/encoding.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>

/// Errors that belong to no parser, such as those of encoders, go to standard error by default. Swift cannot make the
/// variadic function that keeps them away from there.
static void tributary_ignore_error(void *context, const char *message, ...) {}

static inline void tributary_silence_errors(void) {
    xmlThrDefSetGenericErrorFunc(NULL, tributary_ignore_error);
    xmlSetGenericErrorFunc(NULL, tributary_ignore_error);
}
