import ArgumentParser

/// The failure of a command: the message for standard error, and the exit status.
struct Failure: Error, CustomStringConvertible {
    var description: String
    var status: ExitCode

    static func usage(_ message: String) -> Failure { Failure(description: message, status: ExitCode(64)) }
    static func configuration(_ message: String) -> Failure { Failure(description: message, status: ExitCode(78)) }
    static func failed(_ message: String) -> Failure { Failure(description: message, status: ExitCode(1)) }
}
