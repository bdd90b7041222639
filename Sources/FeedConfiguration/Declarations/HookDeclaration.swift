public import FeedModel
package import Foundation

/// A receiver of events, `[hooks.NAME]`.
public struct HookDeclaration: Sendable, Equatable {
    package enum Receiver: Sendable, Equatable {
        /// A program with its arguments, which gets the event on its standard input.
        case program([InterpolatedText])
        /// An address to which the event is posted, signed with the secret where there is one.
        case address(InterpolatedText, secret: HookSecret?)
    }

    public var name: String
    public var events: Set<HookEventKind>
    /// Names of sources, with `*` for any characters and `?` for one; empty for every source.
    public var sources: [String]
    /// How long a source must fail before `failing` is sent.
    public var after: Duration
    /// The most changed rows in one event.
    public var rows: Int
    /// The time for one attempt.
    public var timeout: Duration
    /// What events hold of a changed row.
    package var format = ChangeFormat.key
    /// Which changes of rows the hook hears of; nil for all.
    package var condition: HookCondition?
    package var receiver: Receiver

    /// True if the hook receives events of a source.
    package func concerns(_ source: String) -> Bool {
        sources.isEmpty || sources.contains { Self.matches(source, $0) }
    }

    /// A text that changes when another receiver is declared. It holds no secret.
    package var fingerprint: String {
        switch receiver {
        case .program(let command): Fingerprint.hexadecimal(command.map(\.value).joined(separator: "\u{0}"))
        case .address(let url, _): Fingerprint.hexadecimal(url.value)
        }
    }

    /// Returns true for a name that a pattern matches: `*` stands for any characters, `?` for one.
    package static func matches(_ name: String, _ pattern: String) -> Bool {
        MemberPattern(pattern, hasFolders: false).matches(name)
    }
}

/// The SQL conditions that decide which changes of rows a hook hears of.
package enum HookCondition: Sendable, Equatable {
    /// One for the changes of every table.
    case everyTable(String)
    /// One for each of these tables, by its name. Changes of others are not heard of.
    case tables([String: String])

    /// Returns the condition for the changes of a table; nil where none of them is heard of.
    package func sql(for table: String) -> String? {
        switch self {
        case .everyTable(let sql): sql
        case .tables(let conditions): conditions.first { $0.key.lowercased() == table.lowercased() }?.value
        }
    }
}

/// The key with which events are signed: `whsec_` and base 64 (Standard Webhooks). It never shows.
package struct HookSecret: Sendable, Equatable, CustomStringConvertible {
    package static let prefix = "whsec_"
    /// How many bytes the key may have.
    package static let lengths = 24...64

    package let key: Data
    /// As it was written.
    package let text: String

    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let key = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.lengths.contains(key.count)
        else { return nil }
        self.key = key
        self.text = text
    }

    package var description: String { "[secret]" }
}

extension HookDeclaration {
    /// The secret as it was written.
    package var secret: String? {
        if case .address(_, let secret) = receiver { secret?.text } else { nil }
    }
}
