import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

extension Failure {
    /// Mistakes, each on lines of its own.
    static func mistakes(_ messages: [String]) -> Failure { configuration(messages.joined(separator: "\n\(prefix)")) }

    /// What each error on standard error begins with.
    private static var prefix: String { "\(RootCommand.configuration.commandName ?? "tributary"): " }

    /// Writes what a command threw: help to standard output, the message of an error to standard error.
    ///
    /// - Returns: the exit status.
    static func end(_ error: any Error) -> Int32 {
        let failure: Failure
        switch error {
        case let error as Failure: failure = error
        case let error as ConfigurationError: failure = .mistakes(error.problems.map(\.description))
        case let error as StoreError: failure = .failed(error.description)
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
            let text = prefix + failure.description.trimmingPrefix("Error: ")
            FileHandle.standardError.show(text.escapedForTerminal(keepsLines: true) + "\n")
        }
        return failure.status.rawValue
    }

    /// Returns a help text with its line of usage in lines of 80 columns, broken between arguments.
    private static func wrappingUsage(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.count > 80, line.uppercased().hasPrefix("USAGE: ") else { return String(line) }
            var lines = [""]
            for word in line.replacing(" [", with: "\n[").replacing(" <", with: "\n<").replacing(" --", with: "\n--")
                .split(separator: "\n")
            {
                if lines[lines.count - 1].count + 1 + word.count > 80 {
                    lines.append("       " + word)
                } else {
                    lines[lines.count - 1] += (lines == [""] ? "" : " ") + word
                }
            }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
