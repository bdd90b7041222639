/// The document is well-formed and is not what the parser reads: a maintenance page, a fault, another feed.
struct UnexpectedRoot: Error, CustomStringConvertible {
    let description: String

    init(_ element: String, expected: String) {
        description = "the root element is <\(element)>, not \(expected)"
    }
}
