import FeedDeclarations
import FeedModel

struct TableKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable("[[sources.NAME.requests.tables]]", "A mapping: which element is a row.", all)

    let table = Key.string("table", default: .required, "The table's name.")
    let element = Key.string("element", default: .required, "The path of the element that is a row.")
    let key = Key.strings(
        "key", default: .described("the table's primary key, or else the whole row"), "The columns that identify a row."
    )
    let columns = TableKey.named(
        "columns", ColumnKeys.self, short: "path",
        default: .described("each column of the existing table takes the child or attribute of its name"),
        "The columns, each with the path of its value, or a table: see columns.")
    let order = Key.strings(
        "order", default: .described("the order of the file"),
        "The order of the columns in a table that is created, and of elements in an export.")
    let filter = Key.string("where", "An SQL expression over the record's columns.")
    let sync = Key<SyncMode>.choice("sync", default: .described("the request's"), "As the request's, for this table.")
    let window = Key.string(
        "window", "With `sync = \"mirror\"`: a column below whose smallest value in the feed nothing is deleted.")
    let within = Key.string("within", "With `sync = \"mirror\"`: a column with `parent`.")
    let deleted = Key.string(
        "deleted", default: .described("the request's"),
        "With `sync = \"mirror\"` or `deleted_when`: a column that is set to the time of the commit instead of deleting the row."
    )
    let expire = TableKey.table(
        "expire", ExpiryKeys.self, default: .described("the request's"), "Rows whose date is older go.")
    let deletedWhen = Key.string(
        "deleted_when",
        "An SQL expression over the record's columns: a record for which it is true deletes the row that has its key.")
    let duplicates = Key<RowShape.Duplicates>.choice(
        "duplicates", default: .value(.last),
        "Which of several records with one key counts, in one request; with `\"discard\"` they discard the run.")
    let minRows = Key.integer(
        "min_rows", 0...ConfigurationLimits.minRows, default: .value(0),
        "The least rows that the request stages for this table; fewer discard the run.")
    let maxDeleted = Key.changeLimit(
        "max_deleted", default: .described("the request's"), "As the request's, for this table.")
    let maxChanged = Key.changeLimit(
        "max_changed", default: .described("the request's"), "As the request's, for this table.")
}

struct ColumnKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.tables.columns.COLUMN]", "A mapping: which value is a column.", all)

    let path = Key.string("path", "The path of the value, from the row's element.")
    let value = Key.constant("value", "A constant, the same in every row.")
    let ordinal = Key.flag(
        "ordinal", or: ["parent", "document"],
        "The row's position, from 1: with `true` among the records of its table in one element; with `\"parent\"` among those in the record that a column with `parent` names, however deep and in however many elements they lie in it; with `\"document\"` among all of the document."
    )
    let response = Key<ColumnMapping.Fact>.choice(
        "response",
        "A fact about the answer: the address that answered, when it was fetched, its Last-Modified, or the name of the document among several (`documents`)."
    )
    let parent = Key.string(
        "parent",
        "The table of the element around this one: the column takes the key of its row, whether the feed or the store makes it."
    )
    let row = Key.string("row", "With `for_each`: the column of the row for which the request was sent.")
    let capture = Key.string("capture", "A value that an earlier request has captured.")
    let sql = Key.string("sql", "An SQL expression over the record's other columns.")
    let stored = Key.boolean(
        "stored", default: true,
        "`false`: the column only feeds expressions (`sql`, `where`), and the table does not have it.")
    let type = Key<ValueType>.choice(
        "type", default: .described("`\"text\"`, or what the store's column holds"),
        "`text`, `integer`, `real`, `decimal` (see there), `boolean` (`true`, `false`, `yes`, `no`, `1`, `0`), `date`, `datetime`, `blob` (base 64), `xml` (the element's own markup)."
    )
    let format = Key.string("format", "Of a date: `\"%d.%m.%Y %H:%M\"` or `\"dd.MM.yyyy HH:mm\"`.")
    let decimalSeparator = Key.string(
        "decimal_separator", default: .value("."), "Of numbers that are written otherwise, such as `1.234,50`.")
    let groupSeparator = Key.string("group_separator", "Between the groups of digits.")
    let timeZone = Key.string(
        "time_zone", default: .described("the source's, or else UTC"),
        "Of a `datetime`: the zone of times without an offset, by its name in tzdata.")
    let fallback = Key.constant(
        "default", default: .described("NULL"), "The value where nothing is found, or an empty text.")
    let required = Key.boolean(
        "required", default: false, "The value is required; without one, `on_error` decides.")
    let onError = Key<ColumnMapping.OnError>.choice(
        "on_error", default: .value(.discard),
        "The treatment of a record with a wrong or missing value: the run is discarded, the value is NULL, or the record is skipped and counted."
    )
    let repetition = Key<ColumnMapping.Repeat>.choice(
        "repeat", default: .value(.first), "Which of several values counts, or that they are joined.")
    let separator = Key.string(
        "separator", default: .value(" "), "With `repeat = \"join\"`: the text between the values.")
    let values = Key.constants("values", "The value of each text.")
    let references = Key.string(
        "references",
        "`\"TABLE(COLUMN)\"`: the value is looked up among the rows that exist after the commit, and the primary key of that row is stored."
    )
    let missing = Key<RowShape.Missing>.choice(
        "missing", default: .value(.discard), "With `references`: what to do if no such row exists.")
    let set = TableKey.named(
        "set", SetColumnKeys.self, short: "path",
        "With `missing = \"create\"`: further columns of the row that is made, each with the path of its value, from this row's element."
    )
    let update = Key.boolean("update", default: false, "With `set`: an existing row also gets these columns.")
    let overwrite = Key.boolean("overwrite", default: true, "`false`: the column is written only where the row is new.")
    let encrypted = Key.boolean(
        "encrypted", default: false, "Encrypts the value with AES-GCM and `encryption_key` of `[store]`.")
    let export = Key.exportPath(
        "export", default: .described("`true`; `false` with `sql`"), "`false` leaves the column out of exports.")
}

struct SetColumnKeys: KeyGroup {
    static let all = Self()
    static let table = KeyTable(
        "[sources.NAME.requests.tables.columns.COLUMN.set.COLUMN]",
        "A column that is set in a row that a reference creates.", all)

    let path = Key.string("path", default: .required, "The path of the value.")
    let type = Key<ValueType>.choice("type", default: .value(.text), "As the `type` of a column.")
}
