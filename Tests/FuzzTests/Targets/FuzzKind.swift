import Foundation

/// A kind of input that somebody else decides: a publisher, a server, or whoever writes `sources.toml`.
enum FuzzKind: String, CaseIterable, Sendable {
    /// A document through a mapping with every kind of column.
    case columns
    /// A document through a mapping without keys.
    case rows
    /// A document into tables that mirror its names.
    case tables
    /// A document committed to a store; a second commit of the same bytes changes nothing.
    case commit
    /// A document through the parsers that the program registers.
    case parsers
    /// A document through `infer`.
    case infer
    /// A JSON document, and what it becomes as XML.
    case json
    /// A page in HTML.
    case html
    /// A feed of GTFS Realtime in Protocol Buffers.
    case protobuf
    /// A body that is compressed, or an archive.
    case archive
    /// A date's format, a line feed, and a date.
    case dates
    /// A number, or what else a column may hold.
    case values
    /// A `sources.toml`.
    case toml
    /// An address, a line feed, and where a response sends the request instead.
    case urls
    /// A response's head: its status, then a header a line.
    case heads

    /// Makes what reads inputs of this kind. Used by one thread at a time.
    func makeTarget() throws -> any FuzzTarget {
        switch self {
        case .columns: try DocumentTarget(.columns)
        case .rows: try DocumentTarget(.rows)
        case .tables: try DocumentTarget(.tables)
        case .commit: try CommitTarget()
        case .parsers: try DocumentTarget(.parsers)
        case .infer: try InferenceTarget()
        case .json: JSONTarget()
        case .html: HTMLTarget()
        case .protobuf: ProtobufTarget()
        case .archive: ArchiveTarget()
        case .dates: DateTarget()
        case .values: ValueTarget()
        case .toml: try ConfigurationTarget()
        case .urls: try AddressTarget()
        case .heads: try HeadTarget()
        }
    }

    /// Where the small files are with which the mutations begin; one for all that reads documents.
    var corpusFolder: URL {
        let name =
            switch self {
            case .columns, .rows, .tables, .commit, .parsers, .infer: "documents"
            default: rawValue
            }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../Corpus/\(name)")
            .standardizedFileURL
    }

    /// Those files, in the order of their names.
    func corpus() throws -> [[UInt8]] {
        try FileManager.default.contentsOfDirectory(atPath: corpusFolder.path).sorted().map { name in
            [UInt8](try Data(contentsOf: corpusFolder.appendingPathComponent(name)))
        }
    }

    /// How many mutations the suite tries: about half a second of a debug build.
    var iterations: Int {
        switch self {
        case .commit, .tables: 60
        case .columns, .rows: 120
        case .parsers, .infer: 300
        case .toml: 200
        case .archive: 1500
        case .html: 600
        case .json, .protobuf, .heads, .urls: 1500
        case .dates, .values: 4000
        }
    }
}
