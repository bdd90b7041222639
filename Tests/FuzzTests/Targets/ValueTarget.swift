import Foundation
@testable import FeedConfiguration
@testable import FeedParsing
@testable import TributaryEngine
@testable import XMLStream

/// Texts as the values of columns of every type.
final class ValueTarget: FuzzTarget {
    private static let converters =
        ValueType.allCases.map { ValueConverter($0) } + [ValueConverter(.blob, format: "hex")]

    func run(_ input: [UInt8]) throws -> Bool {
        let text = String(decoding: input, as: UTF8.self)
        let taken = Self.converters.count { $0.converts(text) }
        input.withUnsafeBufferPointer { bytes in
            _ = Lexical.integer(bytes, as: UInt8.self)
            _ = Lexical.integer(bytes, as: Int8.self)
            _ = Lexical.integer(bytes, as: UInt64.self)
            _ = Lexical.decimal(bytes)
        }
        let (int, double) = input.withUnsafeBufferPointer { (Lexical.int($0), Lexical.double($0)) }
        if let int, Int(text) != int { throw FuzzFinding("'\(text)' is read as \(int)") }
        if let double, double.isFinite, Double(text) != double { throw FuzzFinding("'\(text)' is read as \(double)") }
        // Text and markup take everything.
        return taken > 2
    }
}
