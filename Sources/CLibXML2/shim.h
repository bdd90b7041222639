#pragma once
#include <libxml/xmlversion.h>
// Debian's libxml2 includes ICU's headers, which clash with the ICU inside Foundation. No call that we make needs them.
#undef LIBXML_ICU_ENABLED
#include <libxml/encoding.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>
