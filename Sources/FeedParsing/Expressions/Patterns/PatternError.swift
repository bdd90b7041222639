/// The reason why a regular expression is none, or why a text is not searched with it.
struct PatternError: Error {
    var message: String

    init(_ message: String) { self.message = message }
}
