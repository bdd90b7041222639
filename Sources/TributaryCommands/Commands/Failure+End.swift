import ArgumentParser
import FeedConfiguration
import FeedModel
import Foundation
import TributaryEngine

extension Failure {
    /// Writes the mistakes of a configuration to standard error.
    ///
    /// - Returns: the exit status.
    private static func show(_ error: ConfigurationError) -> Int32 {
        // A file that is not there, or is empty, has no place to show.
        if error.problems.count == 1, let only = error.problems.first, only.line == nil, only.keyPath.isEmpty {
            return end(Failure.configuration(only.description))
        }
        let terminal = Terminal(descriptor: STDERR_FILENO)
        // Where nothing shows it, a line may be longer.
        let columns = terminal.size?.columns ?? 120
        let lines = error.problems.flatMap { MistakeText(problem: $0, columns: columns).lines(on: terminal) }
        let files = Set(error.problems.map(\.file).filter { !$0.isEmpty })
        let place = files.count > 1 ? " in \(Figures.count(files.count, "file"))" : files.map { " in \($0)" }.joined()
        let sum: TerminalLine = "\(prefix)\(Figures.count(error.problems.count, "mistake"))\(place)"
        FileHandle.standardError.show((lines + [sum]).map { $0.text + "\n" }.joined())
        return 78
    }

    /// What each error on standard error begins with.
    private static var prefix: String { "\(RootCommand.configuration.commandName ?? "tributary"): " }

    /// Writes what a command threw: help to standard output, the message of an error to standard error.
    ///
    /// - Returns: the exit status.
    static func end(_ error: any Error) -> Int32 {
        if let error = error as? ConfigurationError { return show(error) }
        let failure: Failure
        switch error {
        case let error as Failure: failure = error
        case let error as StoreError: failure = .failed(error.description)
        case let refusal as Refusal: failure = .failed(refusal.description)
        // Whoever has read enough ends it so.
        case OutputError.unread: return 0
        case let error as OutputError: failure = Failure(description: error.description, status: ExitCode(EX_IOERR))
        default:
            failure = Failure(
                description: wrappingUsage(RootCommand.fullMessage(for: error)),
                status: RootCommand.exitCode(for: error))
        }
        guard failure.status != .success else {
            do {
                if !failure.description.isEmpty { try Terminal.write(Array((failure.description + "\n").utf8)) }
                return 0
            } catch {
                return end(error)
            }
        }
        if !failure.description.isEmpty {
            let text = prefix + sentence(failure.description)
            let terminal = Terminal(descriptor: STDERR_FILENO)
            let escaped = text.escapedForTerminal(keepsLines: true)
            let lines = escaped.split(separator: "\n", omittingEmptySubsequences: false)
            // A line of the usage is indented.
            let shown = lines.flatMap { line in
                line.hasPrefix(" ") ? [String(line)] : terminal.wrapped("\(line)", after: "", indent: 4).map(\.text)
            }
            FileHandle.standardError.show(shown.joined(separator: "\n") + "\n")
        }
        return failure.status.rawValue
    }

    /// Writes a warning to standard error.
    static func warn(_ message: String) {
        let terminal = Terminal(descriptor: STDERR_FILENO)
        let lines = terminal.wrapped((prefix + "warning: " + message).escapedForTerminal(), after: "", indent: 4)
        FileHandle.standardError.show(lines.map { $0.text + "\n" }.joined())
    }

    /// Returns the message of an error as what follows the program's name: ArgumentParser's begin with a capital.
    private static func sentence(_ message: String) -> String {
        let text = message.trimmingPrefix("Error: ")
        guard text.count < message.count else { return message }
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// Returns a help text with its line of usage in lines of 80 columns, broken between arguments: an option with its
    /// value, what is in brackets.
    private static func wrappingUsage(_ text: String) -> String {
        text.replacing(/(?im)^usage: .{74,}$/) { line in
            var (lines, width) = ("", 0)
            for argument in line.output.matches(of: /\[[^\]]*\]\S*|--\S+ <[^>]*>|\S+/).map(\.output) {
                let isNew = width + 1 + argument.count > 80
                lines += (isNew ? "\n       " : width == 0 ? "" : " ") + argument
                width = (isNew ? 7 : width == 0 ? 0 : width + 1) + argument.count
            }
            return lines
        }
    }
}
