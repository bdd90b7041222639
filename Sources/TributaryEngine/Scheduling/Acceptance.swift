package import Foundation

/// What `accept` gives.
package enum Acceptance {
    /// The time for which what is accepted waits for its run.
    private static let seconds = 86_400.0

    package static func end(from now: Date) -> Date { now + seconds }
}
