package import FeedModel
import Foundation

/// JSON with sorted keys, unescaped slashes and dates as ISO 8601.
package enum JSONOutput {
    package static func line(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }()
}

/// A recorded run in JSON: an element of `runs` of `history --json`.
package struct RunRecord: Encodable {
    private let report: RunReport

    private enum Key: String, CodingKey { case run, polls, started_at, finished_at, restored }

    package init(_ report: RunReport) { self.report = report }

    package func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(report.number, forKey: .run)
        try container.encode(report.polls, forKey: .polls)
        try container.encode(report.startedAt, forKey: .started_at)
        try container.encode(report.finishedAt, forKey: .finished_at)
        try container.encode(report.restoredRun, forKey: .restored)
    }
}

/// An object of JSON, written member by member. A member that is nil is left out; ``Swift/Optional/orNull`` writes `null`.
package struct JSONObject: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    package typealias Member = any Encodable & Sendable

    private struct Name: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    private struct Null: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        }
    }

    fileprivate static let null: Member = Null()

    private var members: [String: Member] = [:]

    package init(dictionaryLiteral members: (String, Member?)...) {
        for (name, value) in members { self.members[name] = value }
    }

    package subscript(name: String) -> Member? {
        get { members[name] }
        set { members[name] = newValue }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members { try container.encode(value, forKey: Name(stringValue: name)) }
    }
}

extension Optional where Wrapped: Encodable & Sendable {
    /// The value as a member of an object that names it even where there is none.
    package var orNull: JSONObject.Member { self ?? JSONObject.null }
}
