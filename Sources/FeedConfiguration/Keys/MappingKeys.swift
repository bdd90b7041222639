import FeedModel

struct TableKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[[sources.NAME.requests.tables]]", "A mapping: which element is a row.", all,
        rules: [
            .key(all.window, requires: all.sync, is: .mirror, orNone: true),
            .key(all.within, requires: all.sync, is: .mirror, orNone: true),
            .key(all.filter, requires: all.columns, hint: ": it is an expression over the record's columns"),
            .key(all.deletedWhen, requires: all.columns, hint: ": it is an expression over the record's columns"),
        ])

    let table = Key("table", .newName, default: .required, "The table's name.")
    let element = Key(
        "element", .string, default: .requiring(help: "give the path of the element that is a row, such as \"item\""),
        "The path of the element that is a row.")
    let key = Key(
        "key", .columns, default: .described("the table's primary key, or else the whole row"),
        "The columns that identify a row."
    )
    let columns = TableKey.named(
        "columns", ColumnKeys.self, short: "path",
        default: .described("each column of the existing table takes the child or attribute of its name"),
        "The columns, each with the path of its value, or with a table of keys.")
    let order = Key(
        "order", .columns, default: .described("the order of the file"),
        "The order of columns in a new table, and of elements in an export.")
    let filter = Key("where", .string, "A filter: an SQL expression over the record's columns.")
    let sync = Key<SyncMode>(
        "sync", .choice, default: .described("the request's"), "Like the request's, for this table.")
    let window = Key(
        "window", .string,
        "With `sync = \"mirror\"`: the column of a moving window; rows with a value below the smallest one in the feed are kept."
    )
    let within = Key("within", .string, "With `sync = \"mirror\"`: a column with `parent`.")
    let deleted = Key(
        "deleted", .newName, default: .described("the request's"),
        "With `sync = \"mirror\"` or `deleted_when`: the column that gets the time of the commit, instead of a deletion of the row."
    )
    let expire = Key(
        "expire", .table(ExpiryKeys.self), default: .described("the request's"),
        "Deletes rows whose date is too old: `column` and `after`, as in a request's `expire.column`.")
    let deletedWhen = Key(
        "deleted_when", .string,
        "An SQL expression over the record's columns; a record for which it is true deletes the row with its key.")
    let duplicates = Key<RowShape.Duplicates>(
        "duplicates", .choice, default: .value(.last),
        "Which of several records with the same key counts, within one request; `\"discard\"` discards the run.")
    let minRows = Key(
        "min_rows", .integer(0...ConfigurationLimits.minRows), default: .value(0),
        "The minimum number of rows that the request stages for this table; fewer discard the run.")
    let maxDeleted = Key(
        "max_deleted", .changeLimit, default: .described("the request's"), "Like the request's, for this table.")
    let maxChanged = Key(
        "max_changed", .changeLimit, default: .described("the request's"), "Like the request's, for this table.")
}

struct ColumnKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.tables.columns.COLUMN]", "A mapping: which value is a column.", all,
        rules: [
            .exactlyOne(
                all.path, all.value, all.ordinal, all.response, all.parent, all.row, all.capture, all.sql,
                lacking:
                    "the column has no value",
                help: "give one of path, value, ordinal, response, parent, row, capture, sql"),
            .key(all.repetition, requires: all.path), .key(all.separator, requires: all.repetition, is: .join),
            .key(all.values, requires: all.path, all.row, all.capture),
            .key(all.fallback, requires: all.path, all.row, all.capture),
            .key(all.format, requires: all.path, all.row, all.capture),
            .key(all.references, requires: all.path, all.row, all.capture, all.sql),
            .key(all.decimalSeparator, requires: all.type, is: .integer, .real, .decimal),
            .key(all.groupSeparator, requires: all.type, is: .integer, .real, .decimal),
            .key(all.timeZone, requires: all.type, is: .datetime, orNone: true),
            .key(all.format, requires: all.type, is: .date, .datetime, .blob),
            .key(all.missing, requires: all.references), .key(all.set, requires: all.references),
            .key(all.update, requires: all.references), .key(all.set, requires: all.missing, is: .create),
            .key(all.update, requires: all.missing, is: .create),
            .value(
                ColumnMapping.OnError.null, of: all.onError, excludes: all.required,
                because: "a required column cannot hold NULL",
                help: "remove required = true to store NULL, or write on_error = \"skip\" to leave out such records"),
            .value(
                ValueType.xml, of: all.type, excludes: all.sql,
                because: "an expression has no markup; 'xml' takes the path of an element"),
            .atMostOne(all.sql, all.decimalSeparator, because: numbers),
            .atMostOne(all.sql, all.groupSeparator, because: numbers),
        ])

    private static let numbers = "requires a 'path'; an expression gets the number itself"

    let path = Key("path", .string, "The path of the value, from the row's element.")
    let value = Key("value", .constant, "A constant value, the same in every row.")
    let ordinal = Key(
        "ordinal", .flag(or: ["parent", "document"]),
        "The row's position, from 1: with `true`, among the records in the same element; with `\"parent\"`, among all records in the `parent`'s record, at any depth; with `\"document\"`, among all records of the document."
    )
    let response = Key<ColumnMapping.Fact>(
        "response", .choice,
        "A fact about the response: its address, the time of the request, its Last-Modified, or the name of the document among several (`documents`)."
    )
    let parent = Key(
        "parent", .string,
        "The table of the enclosing element: the column takes the key of its row, whether it comes from the feed or from the store."
    )
    let row = Key("row", .string, "With `for_each`: a column of the row for which the request was sent.")
    let capture = Key("capture", .string, "A value that an earlier request has captured.")
    let sql = Key("sql", .string, "An SQL expression over the record's other columns.")
    let stored = Key(
        "stored", .boolean, default: .value(true),
        "`false` makes the column available to expressions (`sql`, `where`) without storing it.")
    let type = Key<ValueType>(
        "type", .choice, default: .described("`\"text\"`, or the type of the store's column"),
        "The type of the value: `decimal` keeps every digit, `blob` is base 64, `xml` is the element's own markup."
    )
    let format = Key(
        "format", .string,
        "The format of a date, such as `\"%d.%m.%Y %H:%M\"` or `\"dd.MM.yyyy HH:mm\"`; of a blob, `\"hex\"` or `\"base64\"`."
    )
    let decimalSeparator = Key(
        "decimal_separator", .string, default: .value("."),
        "The decimal separator of numbers, for values such as `1.234,50`.")
    let groupSeparator = Key("group_separator", .string, "The separator between groups of digits.")
    let timeZone = Key(
        "time_zone", .timeZone, default: .described("the source's, or else UTC"),
        "The time zone of a `datetime` without an offset: a tzdata name.")
    let fallback = Key(
        "default", .constant, default: .described("NULL"), "The value if the path has no match, or finds an empty text."
    )
    let required = Key(
        "required", .boolean, default: .value(false), "Requires a value; without one, `on_error` decides.")
    let onError = Key<ColumnMapping.OnError>(
        "on_error", .choice, default: .value(.discard),
        "The treatment of a record with an invalid or missing value: discard the run, store NULL, or skip and count the record."
    )
    let repetition = Key<ColumnMapping.Repeat>(
        "repeat", .choice, default: .value(.first), "Which of several matches counts; `\"join\"` joins them.")
    let separator = Key(
        "separator", .string, default: .value(" "), "With `repeat = \"join\"`: the text between the values.")
    let values = Key("values", .constants, "A table of texts and their values.")
    let references = Key(
        "references", .string,
        "`\"TABLE(COLUMN)\"`: finds the row with this value among the rows that exist after the commit, and stores its primary key."
    )
    let missing = Key<RowShape.Missing>(
        "missing", .choice, default: .value(.discard), "With `references`: what to do if no row matches.")
    let set = TableKey.named(
        "set", SetColumnKeys.self, short: "path",
        "With `missing = \"create\"`: further columns of the new row, each with the path of its value from this row's element."
    )
    let update = Key(
        "update", .boolean, default: .value(false), "With `set`: updates these columns in an existing row, too.")
    let overwrite = Key("overwrite", .boolean, default: .value(true), "`false` writes the column only in new rows.")
    let encrypted = Key(
        "encrypted", .boolean, default: .value(false),
        "Encrypts the value with AES-GCM and `encryption_key` of `[store]`.")
    let export = Key(
        "export", .export, default: .described("`true`; `false` with `sql`"),
        "`false` leaves the column out of exports.")
}

struct SetColumnKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.tables.columns.COLUMN.set.COLUMN]",
        "A column that is set in a row that a reference creates.", all)

    let path = Key("path", .string, default: .required, "The path of the value.")
    let type = Key<ValueType>("type", .choice, default: .value(.text), "Like the `type` of a column.")
}
