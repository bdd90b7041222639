public import XMLStream

/// Conversion of text to typed values.
///
/// `bind(&x)` converts the text of the element that ends. `bind(&x, attribute:)` converts the value of one of its
/// attributes. A missing attribute sets an optional to nil, and leaves any other value unchanged. An empty text is `""`
/// for a string and nil for an optional of any other type. A text that does not convert discards the run with a
/// ``BindingError``. The caller of the callback sees it, so `bind` needs no `try`.
extension FeedParser {
    public final func bind(_ value: inout String) { value = text }

    public final func bind(_ value: inout String?) { value = text }

    public final func bind<Value: XMLConvertible>(_ value: inout Value) {
        let bytes = textBytes
        if let found = found(Value(xmlText: bytes), bytes, Value.xmlDescription) { value = found }
    }

    public final func bind<Value: XMLConvertible>(_ value: inout Value?) { bindOptional(&value) }

    // Most numbers have one of these two types. Without generics they take half the time.
    public final func bind(_ value: inout Int?) { bindOptional(&value) }
    public final func bind(_ value: inout Double?) { bindOptional(&value) }

    @inline(__always)
    private func bindOptional<Value: XMLConvertible>(_ value: inout Value?) {
        let bytes = textBytes
        guard !bytes.isEmpty else { return value = nil }
        if let found = found(Value(xmlText: bytes), bytes, Value.xmlDescription) { value = found }
    }

    @_disfavoredOverload
    public final func bind<Value: RawRepresentable>(_ value: inout Value) where Value.RawValue: XMLConvertible {
        let bytes = textBytes
        if let found = found(convert(bytes, to: Value.self), bytes, "one of \(Value.self)") { value = found }
    }

    @_disfavoredOverload
    public final func bind<Value: RawRepresentable>(_ value: inout Value?) where Value.RawValue: XMLConvertible {
        let bytes = textBytes
        guard !bytes.isEmpty else { return value = nil }
        if let found = found(convert(bytes, to: Value.self), bytes, "one of \(Value.self)") { value = found }
    }

    public final func bind<Value: XMLConvertible>(_ value: inout Value, attribute: String) {
        withAttribute(attribute) { bytes in
            if let found = found(Value(xmlText: bytes), bytes, Value.xmlDescription, attribute) { value = found }
        }
    }

    public final func bind<Value: XMLConvertible>(_ value: inout Value?, attribute: String) {
        let isThere = withAttribute(attribute) { bytes in
            let converted = Value(xmlText: bytes)
            if converted == nil, !bytes.isEmpty { return refuse(bytes, Value.xmlDescription, attribute) }
            value = converted
        }
        if !isThere { value = nil }
    }

    @_disfavoredOverload
    public final func bind<Value: RawRepresentable>(_ value: inout Value, attribute: String)
    where Value.RawValue: XMLConvertible {
        withAttribute(attribute) { bytes in
            if let found = found(convert(bytes, to: Value.self), bytes, "one of \(Value.self)", attribute) {
                value = found
            }
        }
    }

    @_disfavoredOverload
    public final func bind<Value: RawRepresentable>(_ value: inout Value?, attribute: String)
    where Value.RawValue: XMLConvertible {
        let isThere = withAttribute(attribute) { bytes in
            let converted = convert(bytes, to: Value.self)
            if converted == nil, !bytes.isEmpty { return refuse(bytes, "one of \(Value.self)", attribute) }
            value = converted
        }
        if !isThere { value = nil }
    }

    private var textBytes: UnsafeBufferPointer<UInt8> {
        streamReference._withUnsafeGuaranteedRef { trimmed($0.textBytes) }
    }

    /// - Returns: false if the element has no such attribute.
    @discardableResult
    private func withAttribute(_ name: String, _ body: (UnsafeBufferPointer<UInt8>) -> Void) -> Bool {
        attributes.withValue(of: name) { body(trimmed($0)) } != nil
    }

    private func convert<Value: RawRepresentable>(_ bytes: UnsafeBufferPointer<UInt8>, to type: Value.Type) -> Value?
    where Value.RawValue: XMLConvertible {
        Value.RawValue(xmlText: bytes).flatMap { Value(rawValue: $0) }
    }

    /// Returns a value that a text was converted to. Without one, makes the document fail when the callback has returned:
    /// the first error counts.
    @inline(__always)
    private func found<Value>(
        _ converted: Value?, _ bytes: UnsafeBufferPointer<UInt8>, _ expected: @autoclosure () -> String,
        _ attribute: String? = nil
    ) -> Value? {
        if converted == nil { refuse(bytes, expected(), attribute) }
        return converted
    }

    private func refuse(_ bytes: UnsafeBufferPointer<UInt8>, _ expected: String, _ attribute: String?) {
        stream.fail(
            BindingError(
                element: element, attribute: attribute, line: line, value: String(decoding: bytes, as: UTF8.self),
                expected: expected))
    }
}

/// The error for a text that does not convert to the bound value.
public struct BindingError: Error, Sendable, Equatable, CustomStringConvertible {
    public var element: String
    public var attribute: String?
    public var line: Int
    public var value: String
    public var expected: String

    public var description: String {
        let place = attribute.map { "attribute '\($0)' of <\(element)>" } ?? "<\(element)>"
        let shown = value.count > 100 ? value.prefix(100) + "…" : value[...]
        return "line \(line): \(place) is '\(shown)', which is not \(expected)"
    }
}
