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
    ///   - shown: what the command would do, for the message.
    /// - Throws: ``Failure`` with status 64.
    func requireAnswer(json: Bool, shown: [String] = []) throws {
        guard yes || dryRun || (!json && Terminal.isPersonThere) else {
            let refusal =
                "nothing was changed: without a terminal, --yes confirms it, and --dry-run shows what it would do"
            throw Failure.usage((shown + [refusal]).joined(separator: "\n"))
        }
    }

    /// Asks a question that is answered by yes or no.
    static func isAnswerYes(_ question: TerminalLine) throws -> Bool {
        let answer = try Terminal.ask(question + " [y/N]")?.lowercased()
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
