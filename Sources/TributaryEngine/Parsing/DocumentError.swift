/// A body that is not the document that it was taken for.
struct DocumentError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
