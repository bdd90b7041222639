import ArgumentParser

/// The options of a command that changes rows or the store beyond a refresh: it shows what it will do, and asks.
struct ConfirmationOptions: ParsableArguments {
    @Flag(name: .long, help: "Confirm without asking.")
    var yes = false

    @Flag(name: .long, help: "Only show what would change; exit status 2 if anything would.")
    var dryRun = false

    func validate() throws {
        guard !yes || !dryRun else { throw ValidationError("give either --yes or --dry-run") }
    }

    /// Checks that the command may act, or that a person is there to ask.
    ///
    /// - Parameters:
    ///   - json: true where programs read the output.
    ///   - shown: what the command would do, which is printed without a person, too.
    /// - Throws: ``Failure`` with status 64; ``OutputError``.
    func requireAnswer(json: Bool, shown: [String] = []) throws {
        guard yes || dryRun || (!json && Terminal.isPersonThere) else {
            if !json { for line in shown { try Terminal.printWrapped(line) } }
            throw Failure.usage(
                "nothing was changed: without a terminal, nobody can confirm it; use --yes or --dry-run")
        }
    }

    /// Asks a question that is answered by yes or no.
    static func isAnswerYes(_ question: TerminalLine) throws -> Bool {
        let lines = Terminal().wrapped(question.text + " [y/N]", after: "", indent: 4)
        let answer = try Terminal.ask(lines.dropFirst().reduce(lines[0]) { $0 + "\n" + $1 })?.lowercased()
        return answer == "y" || answer == "yes"
    }

    /// Ends a dry run; otherwise asks, unless `--yes` has answered.
    ///
    /// - Throws: the exit status 2 of a dry run; ``Failure`` where the answer is no; ``OutputError``.
    func ask(_ question: TerminalLine) throws {
        if dryRun { throw ExitCode(2) }
        if yes { return }
        guard try Self.isAnswerYes(question) else { throw Failure.failed("nothing was changed") }
    }
}
