@testable import FeedConfiguration

@testable import TributaryEngine

/// The requests through which documents go.
enum FuzzSources: CaseIterable {
    /// A mapping with every kind of column.
    case columns
    /// A mapping without keys.
    case rows
    /// Tables that are mirrored by their names: those of the mappings.
    case tables
    /// The parsers that the program registers.
    case parsers

    /// What tables there are, and then the requests.
    var toml: String {
        let head = "[defaults]\nmax_body = \"256KiB\"\nallow_empty = true\n"
        switch self {
        case .columns: return head + Self.everyColumn
        case .rows: return head + Self.wholeRows
        case .tables: return head + Self.everyColumn + Self.mirrored
        case .parsers:
            return head
                + ["SyndicationParser", "SitemapParser", "EurofxrefParser"].map { parser in
                    "[[sources.\(parser).requests]]\nurl = \"http://feeds.test/\(parser)\"\nparser = \"\(parser)\"\n"
                }.joined()
        }
    }

    /// Which of them are tried: what makes the tables of others is not.
    func isTried(_ request: RequestDeclaration) -> Bool { self != .tables || request.content == .mirrored }

    private static let everyColumn = """
        [[sources.columns.requests]]
        url = "http://feeds.test/columns"
        sync = "mirror"
        namespaces = { p = "urn:p" }
        [[sources.columns.requests.tables]]
        table = "record"
        element = "record"
        key = ["id"]
        [sources.columns.requests.tables.columns]
        id = { path = "@id", on_error = "skip" }
        name = "name"
        notes = { path = "note", repeat = "join", separator = "|" }
        latest = { path = "note", repeat = "last" }
        size = { path = "size", type = "integer", on_error = "null" }
        price = { path = "price", type = "real", on_error = "null" }
        amount = { path = "amount", type = "decimal", on_error = "null" }
        open = { path = "@open", type = "boolean", on_error = "null" }
        day = { path = "day", type = "date", on_error = "null" }
        instant = { path = "instant", type = "datetime", on_error = "null" }
        stamp = { path = "stamp", type = "datetime", format = "%d.%m.%Y %H:%M", on_error = "null" }
        epoch = { path = "epoch", type = "datetime", format = "%s", on_error = "null" }
        picture = { path = "picture", type = "blob", on_error = "null" }
        digits = { path = "picture/@hex", type = "blob", format = "hex", on_error = "null" }
        markup = { path = "text", type = "xml" }
        deep = "string(text)"
        state = { path = "@state", values = { open = 1, closed = 2 }, on_error = "null" }
        secret = { path = "p:secret", encrypted = true }
        fallback = { path = "absent", default = "none" }
        place = { ordinal = true }
        origin = { value = "fuzz" }
        feed = { response = "url" }
        edition = "../@edition"
        outermost = "../../title"
        [[sources.columns.requests.tables]]
        table = "part"
        element = "record/parts/part"
        key = ["record", "place"]
        within = "record"
        [sources.columns.requests.tables.columns]
        record = { parent = "record" }
        place = { ordinal = true }
        maker = { path = "@maker", references = "maker(name)", missing = "create" }
        text = "."
        [[sources.columns.requests.tables]]
        table = "maker"
        element = "maker"
        key = ["name"]
        sync = "upsert"
        [sources.columns.requests.tables.columns]
        name = { path = "@name", on_error = "skip" }
        city = { path = "city", overwrite = false }

        """

    private static let wholeRows = """
        [[sources.rows.requests]]
        url = "http://feeds.test/rows"
        sync = "mirror"
        [[sources.rows.requests.tables]]
        table = "link"
        element = "link[@href]"
        [sources.rows.requests.tables.columns]
        href = "@href"
        kind = "@rel"
        title = "../title"
        [[sources.rows.requests.tables]]
        table = "leaf"
        element = "*/item"
        sync = "insert"
        [sources.rows.requests.tables.columns]
        id = { path = "*/@id", type = "integer", on_error = "null" }
        text = { path = "text()", type = "text" }

        """

    private static let mirrored = """
        [[sources.tables.requests]]
        url = "http://feeds.test/tables"
        parser = "mirrored"

        """
}
