import ArgumentParser
import Foundation
import TributaryEngine

/// The failure of a command: the message for standard error, and the exit status.
struct Failure: Error, CustomStringConvertible {
    var description: String
    var status: ExitCode

    static func usage(_ message: String) -> Failure { Failure(description: message, status: ExitCode(64)) }
    static func configuration(_ message: String) -> Failure { Failure(description: message, status: ExitCode(78)) }
    static func failed(_ message: String) -> Failure { Failure(description: message, status: ExitCode(1)) }
}

/// A point in time as an argument.
enum TimeArgument {
    /// - Throws: ``Failure`` naming the option.
    static func time(_ text: String, option: String) throws -> Date {
        guard let date = WrittenTime.date(text) else {
            throw Failure.usage("\(option) \(text): write the number of a run, or a time such as 2026-11-17T14:30Z")
        }
        return date
    }
}
