package import FeedModel

/// The format of a body.
public enum BodyFormat: String, Sendable, CaseIterable {
    case xml, json
    /// JSON Lines: a JSON value on each line.
    case jsonl
    /// Lines of fields (RFC 4180).
    case csv
    /// A page, repaired as browsers do. No body is taken for one without being declared, so that an error page stays an error.
    case html
    /// A workbook in Office Open XML (ISO/IEC 29500), which is a ZIP archive.
    case xlsx
    /// A message in Protocol Buffers of a declared schema.
    case protobuf
    /// A `FeedMessage` of GTFS Realtime, in Protocol Buffers.
    case gtfsRealtime = "gtfs-realtime"

    /// The `Accept` header of a request for the format.
    package var accept: String {
        switch self {
        case .xml: "application/xml, text/xml;q=0.9, */*;q=0.1"
        case .json: "application/json, */*;q=0.1"
        case .jsonl: "application/jsonl, application/x-ndjson, */*;q=0.1"
        case .csv: "text/csv, text/tab-separated-values;q=0.9, */*;q=0.1"
        case .html: "text/html, application/xhtml+xml;q=0.9, */*;q=0.1"
        case .xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, */*;q=0.1"
        case .protobuf, .gtfsRealtime: "application/x-protobuf, application/protobuf;q=0.9, */*;q=0.1"
        }
    }

    /// True if a document of the format is itself an archive, which its reader opens.
    package var isArchive: Bool { self == .xlsx }
}

/// How a publisher writes a body: its format, and the choices that some formats leave open.
public struct BodyDialect: Sendable, Hashable {
    /// The declared format; nil to go by the Content-Type, the suffix of the name, or else by the body.
    package var format: BodyFormat?
    package var csv = CSVDialect()
    package var xlsx = WorkbookDialect()
    /// The schema of a body in Protocol Buffers; nil for other formats.
    package var protobuf: ProtobufSchema?

    package init(format: BodyFormat? = nil) { self.format = format }
}

/// The part of a workbook that is read.
public struct WorkbookDialect: Sendable, Hashable {
    /// The name of the sheet; nil for the first one that is not hidden.
    package var sheet: String?
    package var header = CSVDialect.Header.line
    /// The number of rows of the sheet before the header, or before the first record of a sheet without a header.
    package var skip = 0

    package init() {}
}

/// How a publisher writes CSV, where RFC 4180 leaves it open or is not followed.
public struct CSVDialect: Sendable, Hashable {
    /// What names the columns.
    package enum Header: Sendable, Hashable {
        /// The first line that is not skipped.
        case line
        /// Nothing: they are `c1`, `c2` and so on.
        case none
        /// These names; the file has no header.
        case names([String])
    }

    /// An ASCII character; nil for a comma, or for a tab where the media type is `text/tab-separated-values`.
    package var delimiter: UInt8?
    /// An ASCII character; nil if no field is quoted.
    package var quote: UInt8? = UInt8(ascii: "\"")
    package var header = Header.line
    /// The number of lines before the header, or before the first record of a body without a header.
    package var skip = 0
    /// The name of the encoding as iconv knows it; nil for the `charset` of the response, or else UTF-8.
    package var encoding: String?
    /// True if a line that is no record is skipped, and does not discard the run.
    package var skipsMalformed = false

    package init() {}
}

/// The facts about parsers that a configuration needs.
package protocol BodyParsing: Sendable {
    /// The parsers that requests may name, in alphabetical order.
    var names: [String] { get }

    /// Returns the tables that the parser of a body declares to write.
    func tables(of content: BodyContent) -> [String]

    /// Returns true if a text converts to the value of a column.
    ///
    /// - Parameter isConstant: true if its numbers are written as in TOML, even if the feed writes them differently.
    func converts(_ text: String, in column: ColumnMapping, isConstant: Bool) -> Bool

    /// Returns the mistakes in the expressions of a table: derived columns and filter.
    func expressionProblems(of table: TableMapping) -> [ExpressionProblem]

    /// Returns what is wrong with a condition on changes, whatever the columns of their tables; nil where nothing is.
    func conditionProblem(of sql: String) -> Finding?

    /// Returns a message's description of the text that a column expects.
    func expectation(of column: ColumnMapping) -> String
}

/// The way in which the body of a response is parsed.
public enum BodyContent: Sendable, Hashable {
    /// A registered class, by its name.
    case parser(String)
    /// The tables that `sources.toml` maps.
    case mapping(RequestMapping)
    /// Everything in the document that is named like the store's tables and columns: `parser = "mirrored"`.
    case mirrored

    /// Only the request's captures: a login, an index of addresses.
    case captures

    /// The mapping; nil for other content.
    package var mapping: RequestMapping? { if case .mapping(let mapping) = self { mapping } else { nil } }

    /// The reserved name of the mirrored schema.
    package static let mirroredName = "mirrored"

    /// A name that distinguishes the kinds, and the registered classes.
    package var name: String {
        switch self {
        case .parser(let name): "parser \(name)"
        case .mapping: "mapping"
        case .mirrored: Self.mirroredName
        case .captures: "captures"
        }
    }

    /// The keys of a request that declare this content, and the other values taken from the document.
    package var declaringKeys: [String] {
        let taken = ["capture", "page", "until", "format", "csv", "xlsx", "protobuf", "documents"]
        return mapping == nil ? taken : taken + ["tables", "namespaces", "root", "expand"]
    }
}

/// A mistake in the SQL expression of a derived column or of a table's filter.
package struct ExpressionProblem: Error, Sendable, Equatable {
    /// The column whose expression it is; nil for the table's filter.
    package var column: String?
    package var finding: Finding

    package init(column: String?, _ finding: Finding) {
        self.column = column
        self.finding = finding
    }
}
