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
