import ArgumentParser
import FeedConfiguration

/// The options of `infer` and `init` that say how a document is written.
struct DocumentOptions: ParsableArguments {
    @Option(
        name: .long,
        help:
            "The document's format: xml, json, jsonl, csv, html, xlsx or gtfs-realtime; by default derived from its media type, suffix or first lines.",
        transform: { text in
            // The options name no descriptor set.
            guard let format = BodyFormat(rawValue: text), format != .protobuf else {
                throw ValidationError("write xml, json, jsonl, csv, html, xlsx or gtfs-realtime")
            }
            return format
        })
    var format: BodyFormat?

    @Option(
        name: .long,
        help:
            "The encoding of a document in CSV, as for iconv(1); by default that of the response, UTF-8 or windows-1252."
    )
    var encoding: String?

    @Option(name: .long, help: "The sheet of a workbook; by default the first one that is not hidden.")
    var sheet: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The number of rows of a workbook's sheet above the header.", valueName: "rows"))
    var skip: Int?

    /// The names of the options that are given.
    var given: [String] {
        [
            ("--format", format != nil), ("--encoding", encoding != nil), ("--sheet", sheet != nil),
            ("--skip", skip != nil),
        ].filter(\.1).map(\.0)
    }

    /// The declared dialect. An option of workbooks alone says that the document is one.
    var dialect: BodyDialect {
        var dialect = BodyDialect(format: format ?? (sheet != nil || skip != nil ? .xlsx : nil))
        dialect.csv.encoding = encoding
        dialect.xlsx.sheet = sheet
        dialect.xlsx.skip = skip ?? 0
        return dialect
    }

    func validate() throws {
        if sheet != nil || skip != nil, dialect.format != .xlsx {
            throw ValidationError("--sheet and --skip are for workbooks, --format xlsx")
        }
        if let skip, !(0...1_000_000).contains(skip) {
            throw ValidationError("--skip is a number of rows, at most 1,000,000")
        }
    }
}
