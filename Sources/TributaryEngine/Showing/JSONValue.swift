package import FeedModel
import Foundation

/// A stored value in JSON; a blob is in base 64, and what is no number is the text `Infinity`, `-Infinity` or `NaN`.
package struct JSONValue: Encodable {
    private let value: StoredValue

    package init(_ value: StoredValue) { self.value = value }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .null: try container.encodeNil()
        case .integer(let number): try container.encode(number)
        case .real(let number) where number.isFinite: try container.encode(number)
        case .real(let number): try container.encode(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        case .text(let text): try container.encode(text)
        case .blob(let data): try container.encode(data.base64EncodedString())
        }
    }
}
