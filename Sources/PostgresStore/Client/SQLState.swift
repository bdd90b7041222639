/// A five-character code by which PostgreSQL names an error ("Appendix A. PostgreSQL Error Codes"). It is the same in every
/// language of the server's messages.
package struct SQLState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The first two characters, which name a class of errors.
    package var classCode: Substring { rawValue.prefix(2) }

    package var description: String { rawValue }
}

extension SQLState {
    package static let featureNotSupported = SQLState(rawValue: "0A000")

    package static let characterNotInRepertoire = SQLState(rawValue: "22021")
    package static let untranslatableCharacter = SQLState(rawValue: "22P05")

    package static let notNullViolation = SQLState(rawValue: "23502")
    package static let foreignKeyViolation = SQLState(rawValue: "23503")
    package static let uniqueViolation = SQLState(rawValue: "23505")
    package static let exclusionViolation = SQLState(rawValue: "23P01")

    package static let readOnlyTransaction = SQLState(rawValue: "25006")
    package static let inFailedTransaction = SQLState(rawValue: "25P02")
    package static let idleInTransactionTimeout = SQLState(rawValue: "25P03")

    package static let invalidAuthorization = SQLState(rawValue: "28000")
    package static let invalidPassword = SQLState(rawValue: "28P01")
    package static let unknownDatabase = SQLState(rawValue: "3D000")

    package static let serializationFailure = SQLState(rawValue: "40001")
    package static let deadlockDetected = SQLState(rawValue: "40P01")

    package static let insufficientPrivilege = SQLState(rawValue: "42501")

    package static let diskFull = SQLState(rawValue: "53100")
    package static let outOfMemory = SQLState(rawValue: "53200")
    package static let tooManyConnections = SQLState(rawValue: "53300")
    package static let lockNotAvailable = SQLState(rawValue: "55P03")
    package static let queryCanceled = SQLState(rawValue: "57014")
    package static let adminShutdown = SQLState(rawValue: "57P01")
    package static let crashShutdown = SQLState(rawValue: "57P02")
    package static let cannotConnectNow = SQLState(rawValue: "57P03")
}
