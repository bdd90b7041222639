/// The document is well-formed but not of the expected kind: a maintenance page, a fault, another feed.
struct UnexpectedRoot: Error, CustomStringConvertible {
    let description: String

    init(_ element: String, expected: String) {
        description = "the root element is <\(element)>, not \(expected)"
    }
}
