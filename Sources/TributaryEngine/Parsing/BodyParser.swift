/// What turns a response's body into staged rows, piece by piece.
protocol BodyParser {
    func parse(_ bytes: UnsafeRawBufferPointer) throws

    /// The body has ended.
    func finish() throws
}
