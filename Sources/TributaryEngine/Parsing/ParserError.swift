/// What a parser threw, and where it was.
struct ParserError: Error, CustomStringConvertible {
    var element: String
    var line: Int
    var underlying: any Error

    var description: String { "line \(line), in <\(element)>: the parser threw \(underlying)" }
}
