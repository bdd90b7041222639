import Foundation
import XMLStream

/// Dates of header fields (RFC 9110, section 5.6.7).
enum HTTPDate {
    static func parse(_ text: String) -> Date? {
        var text = text.trimmingCharacters(in: .whitespaces)
        return text.withUTF8 { Lexical.date($0) }
    }
}
