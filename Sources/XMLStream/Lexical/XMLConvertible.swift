public import Foundation

/// A value that the text of an element or attribute can be converted to.
///
/// Conform your own types to bind them. Strings, integers, floating-point numbers, decimals, booleans, dates, data (as
/// base 64) and URLs conform already. Enumerations with such raw values can be bound as they are.
public protocol XMLConvertible {
    /// - Parameter xmlText: UTF-8 without white space at either end, valid only during the call.
    /// - Returns: nil if the text does not convert.
    init?(xmlText: UnsafeBufferPointer<UInt8>)

    /// The description of the expected value in messages: "an integer".
    static var xmlDescription: String { get }
}

extension XMLConvertible {
    /// Converts a string in the same way as the text of an element; nil if it does not convert.
    public init?(xmlText: String) {
        var text = xmlText
        guard let value = text.withUTF8({ Self(xmlText: trimmed($0)) }) else { return nil }
        self = value
    }

    public static var xmlDescription: String { "a value of type \(Self.self)" }

    @inline(__always)
    fileprivate init?(read value: Self?) {
        guard let value else { return nil }
        self = value
    }
}

extension String: XMLConvertible {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(decoding: xmlText, as: UTF8.self) }
    public static var xmlDescription: String { "text" }
}

extension XMLConvertible where Self: FixedWidthInteger {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(read: Lexical.integer(xmlText, as: Self.self)) }
    public static var xmlDescription: String { "an integer from \(Self.min) to \(Self.max)" }
}

extension Int: XMLConvertible {
    // The same as for other types, but concrete, because most of a feed's text is of this type.
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(read: Lexical.int(xmlText)) }
}
extension Int8: XMLConvertible {}
extension Int16: XMLConvertible {}
extension Int32: XMLConvertible {}
extension Int64: XMLConvertible {}
extension UInt: XMLConvertible {}
extension UInt8: XMLConvertible {}
extension UInt16: XMLConvertible {}
extension UInt32: XMLConvertible {}
extension UInt64: XMLConvertible {}

extension Double: XMLConvertible {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(read: Lexical.double(xmlText)) }
    public static var xmlDescription: String { "a number" }
}

extension Float: XMLConvertible {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(read: Lexical.double(xmlText).map { Float($0) }) }
    public static var xmlDescription: String { "a number" }
}

extension Decimal: XMLConvertible {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(read: Lexical.decimal(xmlText)) }
    public static var xmlDescription: String { "a decimal number" }
}

extension Bool: XMLConvertible {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(read: Lexical.boolean(xmlText)) }
    public static var xmlDescription: String { "true, false, yes, no, 1 or 0" }
}

extension Date: XMLConvertible {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(read: Lexical.date(xmlText)) }
    public static var xmlDescription: String { "a date as ISO 8601 or RFC 822 write it" }
}

extension Data: XMLConvertible {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) { self.init(read: Lexical.base64(xmlText)) }
    public static var xmlDescription: String { "base 64" }
}

extension URL: XMLConvertible {
    public init?(xmlText: UnsafeBufferPointer<UInt8>) {
        self.init(read: xmlText.isEmpty ? nil : URL(string: String(decoding: xmlText, as: UTF8.self)))
    }
    public static var xmlDescription: String { "a URL" }
}
