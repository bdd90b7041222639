// The benchmark's yardstick: libxml2's push parser with SAX2 callbacks, straight into the table of a
// WAL database, in one transaction. No staging, no journal, no atomic stack, no HTTP: what the
// hardware and the two C libraries can do, and nothing else.
//
//     cc -O2 reference.c -o reference $(pkg-config --cflags --libs libxml-2.0 sqlite3)
//     ./reference [--cache KIB] STORE CONTACTS.XML
//     ./reference [--cache KIB] --apart STORE CONTACTS.XML
//
// KIB is the size of SQLite's page cache; without it, SQLite's default of 2,000 KiB. With --apart, all contacts are parsed
// into memory before the first is inserted, and the seconds that each of the two took are printed.
#include <libxml/parser.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 8, TEXT_CAPACITY = 4096, CHUNK = 65536 };

// In the order of the table's columns; lastNameInitial, the fourth, comes from lastName.
static const char *const names[COLUMNS] = {
    "email", "firstName", "lastName", "", "company", "age", "balance", "updated"};

struct state {
    sqlite3 *db;
    sqlite3_stmt *insert;
    const xmlChar *contact, *column[COLUMNS];
    char values[COLUMNS][TEXT_CAPACITY];
    int lengths[COLUMNS];
    int current;
    int apart;
    char *kept;  // Contacts that wait for their insertion: for each, its lengths, then its texts.
    size_t kept_count, kept_capacity;
};

static void fail(const char *what, const char *why) {
    fprintf(stderr, "reference: %s: %s\n", what, why);
    exit(1);
}

static void execute(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) fail(sql, sqlite3_errmsg(db));
}

static void start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                  const xmlChar **declared, int attributes, int defaulted, const xmlChar **values) {
    struct state *s = context;
    s->current = -1;
    if (name == s->contact) {
        for (int i = 0; i < COLUMNS; i++) s->lengths[i] = -1;
        return;
    }
    for (int i = 0; i < COLUMNS; i++)
        if (name == s->column[i]) {
            s->current = i;
            s->lengths[i] = 0;
            return;
        }
}

static void characters(void *context, const xmlChar *text, int length) {
    struct state *s = context;
    if (s->current < 0) return;
    int i = s->current;
    if (s->lengths[i] + length > TEXT_CAPACITY) fail("text", "too long");
    memcpy(s->values[i] + s->lengths[i], text, length);
    s->lengths[i] += length;
}

static void insert(struct state *s) {
    for (int i = 0; i < COLUMNS; i++) {
        char *value = s->values[i];
        int length = s->lengths[i];
        if (i == 3) {
            value = s->values[2];
            length = s->lengths[2] > 0 ? 1 : s->lengths[2];
            while (length > 0 && length < s->lengths[2] && (value[length] & 0xC0) == 0x80) length++;
        }
        if (length < 0) {
            sqlite3_bind_null(s->insert, i + 1);
        } else if (i == 5 || i == 6) {
            value[length] = 0;
            if (i == 5) sqlite3_bind_int64(s->insert, i + 1, strtoll(value, NULL, 10));
            else sqlite3_bind_double(s->insert, i + 1, strtod(value, NULL));
        } else {
            sqlite3_bind_text(s->insert, i + 1, value, length, SQLITE_STATIC);
        }
    }
    if (sqlite3_step(s->insert) != SQLITE_DONE) fail("insert", sqlite3_errmsg(s->db));
    sqlite3_reset(s->insert);
}

static void keep(struct state *s) {
    size_t size = sizeof s->lengths;
    for (int i = 0; i < COLUMNS; i++) size += s->lengths[i] > 0 ? s->lengths[i] : 0;
    while (s->kept_count + size > s->kept_capacity) {
        s->kept_capacity = s->kept_capacity ? 2 * s->kept_capacity : 1 << 26;
        s->kept = realloc(s->kept, s->kept_capacity);
        if (!s->kept) fail("memory", "is short");
    }
    char *to = s->kept + s->kept_count;
    memcpy(to, s->lengths, sizeof s->lengths);
    to += sizeof s->lengths;
    for (int i = 0; i < COLUMNS; i++)
        if (s->lengths[i] > 0) to = (char *)memcpy(to, s->values[i], s->lengths[i]) + s->lengths[i];
    s->kept_count += size;
}

static void insert_kept(struct state *s) {
    for (char *from = s->kept; from < s->kept + s->kept_count;) {
        memcpy(s->lengths, from, sizeof s->lengths);
        from += sizeof s->lengths;
        for (int i = 0; i < COLUMNS; i++)
            if (s->lengths[i] > 0) {
                memcpy(s->values[i], from, s->lengths[i]);
                from += s->lengths[i];
            }
        insert(s);
    }
}

static void end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    struct state *s = context;
    s->current = -1;
    if (name != s->contact) return;
    if (s->apart) keep(s);
    else insert(s);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    static struct state s;
    int cache = 0;
    for (; count > 1 && strncmp(arguments[1], "--", 2) == 0; count--, arguments++) {
        if (strcmp(arguments[1], "--apart") == 0) {
            s.apart = 1;
        } else if (strcmp(arguments[1], "--cache") == 0 && count > 2) {
            cache = atoi(arguments[2]);
            count--, arguments++;
        }
    }
    if (count != 3) fail("usage", "reference [--cache KIB] [--apart] STORE CONTACTS.XML");
    if (sqlite3_open(arguments[1], &s.db) != SQLITE_OK) fail(arguments[1], sqlite3_errmsg(s.db));
    execute(s.db, "PRAGMA journal_mode = WAL");
    if (cache > 0) {
        char pragma[64];
        snprintf(pragma, sizeof pragma, "PRAGMA cache_size = -%d", cache);
        execute(s.db, pragma);
    }
    execute(s.db, "CREATE TABLE IF NOT EXISTS contact (email TEXT PRIMARY KEY, firstName TEXT, lastName TEXT, "
                  "lastNameInitial TEXT, company TEXT, age INTEGER, balance REAL, updated TEXT)");
    execute(s.db, "BEGIN IMMEDIATE");
    const char *sql = "INSERT INTO contact VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (email) DO UPDATE SET "
                      "firstName = excluded.firstName, lastName = excluded.lastName, "
                      "lastNameInitial = excluded.lastNameInitial, company = excluded.company, age = excluded.age, "
                      "balance = excluded.balance, updated = excluded.updated";
    if (sqlite3_prepare_v2(s.db, sql, -1, &s.insert, NULL) != SQLITE_OK) fail(sql, sqlite3_errmsg(s.db));

    FILE *file = fopen(arguments[2], "rb");
    if (!file) fail(arguments[2], "cannot be opened");
    xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC, .startElementNs = start, .endElementNs = end,
                             .characters = characters, .cdataBlock = characters};
    xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, &s, NULL, 0, NULL);
    xmlCtxtUseOptions(parser, XML_PARSE_NONET | XML_PARSE_HUGE);
    s.contact = xmlDictLookup(parser->dict, BAD_CAST "contact", -1);
    for (int i = 0; i < COLUMNS; i++) s.column[i] = xmlDictLookup(parser->dict, BAD_CAST names[i], -1);
    double began = seconds();
    static char chunk[CHUNK];
    for (size_t length; (length = fread(chunk, 1, CHUNK, file)) > 0;)
        if (xmlParseChunk(parser, chunk, (int)length, 0)) fail(arguments[2], "is not well-formed");
    if (xmlParseChunk(parser, chunk, 0, 1)) fail(arguments[2], "is not well-formed");

    double parsed = seconds();
    insert_kept(&s);
    sqlite3_finalize(s.insert);
    execute(s.db, "COMMIT");
    xmlFreeParserCtxt(parser);
    fclose(file);
    if (sqlite3_close(s.db) != SQLITE_OK) fail("close", sqlite3_errmsg(s.db));
    if (s.apart) printf("{\"parse\": %.3f, \"insert\": %.3f}\n", parsed - began, seconds() - parsed);
    return 0;
}
