import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The failure of a command: the message for standard error, and the exit status.
struct Failure: Error, CustomStringConvertible {
    var description: String
    var status: ExitCode

    static func usage(_ message: String) -> Failure { Failure(description: message, status: ExitCode(64)) }
    static func configuration(_ message: String) -> Failure { Failure(description: message, status: ExitCode(78)) }
    static func failed(_ message: String) -> Failure { Failure(description: message, status: ExitCode(1)) }

    /// Writes what a command threw: help to standard output, the message of an error to standard error.
    ///
    /// - Returns: the exit status.
    static func end(_ error: any Error) -> Int32 {
        let failure: Failure
        switch error {
        case let error as Failure: failure = error
        case let error as ConfigurationError: failure = .configuration(error.description)
        case let error as StoreError: failure = .failed(error.description)
        // Whoever has read enough ends it so.
        case OutputError.unread: return 0
        case let error as OutputError: failure = Failure(description: error.description, status: ExitCode(EX_IOERR))
        default:
            failure = Failure(
                description: RootCommand.fullMessage(for: error), status: RootCommand.exitCode(for: error))
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
            FileHandle.standardError.show(failure.description.escapedForTerminal(keepsLines: true) + "\n")
        }
        return failure.status.rawValue
    }
}
