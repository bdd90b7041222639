package import FeedModel
package import FeedStaging

/// A parser that requests may name: a class, or a parser made of a record type.
package enum RegisteredParser: Sendable {
    case type(FeedParser.Type)
    case record(any RecordParsing)

    var name: String {
        switch self {
        case .type(let type): String(describing: type)
        case .record(let parser): parser.name
        }
    }

    package var version: Int {
        switch self {
        case .type(let type): type.version
        case .record(let parser): parser.version
        }
    }

    package var tables: [String] {
        switch self {
        case .type(let type): type.tables
        case .record(let parser): parser.tables
        }
    }

    package var schema: String {
        switch self {
        case .type(let type): type.schema
        case .record: ""
        }
    }

    package var keys: [String: [String]] {
        switch self {
        case .type(let type): type.keys
        case .record: [:]
        }
    }

    package var insertOnly: [String: Set<String>] {
        switch self {
        case .type(let type): type.insertOnly
        case .record: [:]
        }
    }

    package func makeBodyParser(_ response: FeedResponse, context: WorkerContext) -> any BodyParser {
        switch self {
        case .type(let type): XMLBodyParser(type, context: context, response: response)
        case .record(let parser):
            StreamBodyParser(parser._makeStream(context: context).handler, response)
        }
    }
}
