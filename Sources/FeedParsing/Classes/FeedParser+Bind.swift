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
        set(&value, nil, Value.init(xmlText:), Value.xmlDescription)
    }

    public final func bind<Value: XMLConvertible>(_ value: inout Value?) {
        set(optional: &value, nil, Value.init(xmlText:), Value.xmlDescription)
    }

    // Most numbers have one of these two types. Without generics they take half the time.
    public final func bind(_ value: inout Int?) { set(optional: &value, nil, Int.init(xmlText:), Int.xmlDescription) }
    public final func bind(_ value: inout Double?) {
        set(optional: &value, nil, Double.init(xmlText:), Double.xmlDescription)
    }

    @_disfavoredOverload
    public final func bind<Value: RawRepresentable>(_ value: inout Value) where Value.RawValue: XMLConvertible {
        set(&value, nil, convert, "one of \(Value.self)")
    }

    @_disfavoredOverload
    public final func bind<Value: RawRepresentable>(_ value: inout Value?) where Value.RawValue: XMLConvertible {
        set(optional: &value, nil, convert, "one of \(Value.self)")
    }

    public final func bind<Value: XMLConvertible>(_ value: inout Value, attribute: String) {
        set(&value, attribute, Value.init(xmlText:), Value.xmlDescription)
    }

    public final func bind<Value: XMLConvertible>(_ value: inout Value?, attribute: String) {
        set(optional: &value, attribute, Value.init(xmlText:), Value.xmlDescription)
    }

    @_disfavoredOverload
    public final func bind<Value: RawRepresentable>(_ value: inout Value, attribute: String)
    where Value.RawValue: XMLConvertible { set(&value, attribute, convert, "one of \(Value.self)") }

    @_disfavoredOverload
    public final func bind<Value: RawRepresentable>(_ value: inout Value?, attribute: String)
    where Value.RawValue: XMLConvertible { set(optional: &value, attribute, convert, "one of \(Value.self)") }

    private func convert<Value: RawRepresentable>(_ bytes: UnsafeBufferPointer<UInt8>) -> Value?
    where Value.RawValue: XMLConvertible {
        Value.RawValue(xmlText: bytes).flatMap { Value(rawValue: $0) }
    }

    /// - Parameter attribute: the attribute whose value is converted; nil for the element's text.
    @inline(__always)
    private func set<Value>(
        _ value: inout Value, _ attribute: String?, _ convert: (UnsafeBufferPointer<UInt8>) -> Value?,
        _ expected: @autoclosure () -> String
    ) {
        withText(of: attribute) { bytes in
            if let converted = convert(bytes) { value = converted } else { refuse(bytes, expected(), attribute) }
        }
    }

    @inline(__always)
    private func set<Value>(
        optional value: inout Value?, _ attribute: String?, _ convert: (UnsafeBufferPointer<UInt8>) -> Value?,
        _ expected: @autoclosure () -> String
    ) {
        let isThere = withText(of: attribute) { bytes in
            let converted = attribute == nil && bytes.isEmpty ? nil : convert(bytes)
            if converted == nil, !bytes.isEmpty { return refuse(bytes, expected(), attribute) }
            value = converted
        }
        if !isThere { value = nil }
    }

    /// - Returns: false if the element has no such attribute.
    @inline(__always) @discardableResult
    private func withText(of attribute: String?, _ body: (UnsafeBufferPointer<UInt8>) -> Void) -> Bool {
        if let attribute { return attributes.withValue(of: attribute) { body(trimmed($0)) } != nil }
        streamReference._withUnsafeGuaranteedRef { body(trimmed($0.textBytes)) }
        return true
    }

    /// Makes the document fail when the callback has returned: the first error counts.
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
