import ArgumentParser

/// The option of a command whose answer programs read, too.
struct JSONOption: ParsableArguments {
    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    /// Prints an answer: the object for programs, or its lines for people.
    ///
    /// - Throws: ``OutputError``, the errors of the closures.
    func show(_ object: @autoclosure () throws -> some Encodable, _ lines: () throws -> [TerminalLine]) throws {
        if json { return try Terminal.printJSON(object()) }
        for line in try lines() { try Terminal.print(line) }
    }
}
