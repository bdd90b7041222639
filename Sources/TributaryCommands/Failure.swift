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

    /// Writes an error's message to standard error, and returns its exit status for the argument parser.
    static func explain(_ error: any Error) -> any Error {
        let failure: Failure
        switch error {
        case let error as Failure: failure = error
        case let error as ConfigurationError: failure = .configuration(error.description)
        case let error as StoreError: failure = .failed(error.description)
        default: return error
        }
        FileHandle.standardError.show(failure.description + "\n")
        return failure.status
    }
}
