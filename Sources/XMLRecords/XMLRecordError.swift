/// The reason why an element is not the wanted record, or why a value cannot be written as XML.
public struct XMLRecordError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, counted from 1; nil if a value was to be written.
    public var line: Int?
    /// The element that the key belongs to, as written.
    public var element: String?
    /// The coding key; nil if the error concerns the element itself.
    public var key: String?
    /// The text that was found; nil if there was none.
    public var value: String?
    public var reason: String

    public init(
        line: Int? = nil, element: String? = nil, key: String? = nil, value: String? = nil, reason: String
    ) {
        self.line = line
        self.element = element
        self.key = key
        self.value = value
        self.reason = reason
    }

    /// For example `line 12, element <food>, 'calories': "many" is not an integer from 0 to 255`.
    public var description: String {
        let places = [line.map { "line \($0)" }, element.map { "element <\($0)>" }, key.map { "'\($0)'" }]
        let place = places.compactMap { $0 }.joined(separator: ", ")
        let shown = value.map { "\"" + ($0.count > 100 ? $0.prefix(100) + "…" : $0[...]) + "\" " } ?? ""
        return (place.isEmpty ? "" : place + ": ") + shown + reason
    }
}
