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
