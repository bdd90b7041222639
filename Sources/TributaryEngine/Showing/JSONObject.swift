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
