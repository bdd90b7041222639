package import XMLStream

/// The repetition of a request until its response has a value, such as the state of a job that the server runs.
package struct UntilDeclaration: Sendable, Hashable {
    /// The path of the value, from the root of the document.
    package var path: XMLPath
    package var written: String
    /// The values that end the repetition.
    package var values: [String]
    /// The values that discard the run.
    package var failures: [String]
    /// The time between a response and the next request.
    package var pause: Duration
    /// The time from the first request to the response with one of ``values``.
    package var limit: Duration

    package static let defaultPause = Duration.seconds(10)
    package static let defaultLimit = Duration.seconds(1_800)
    static let shortestPause = Duration.seconds(1)
    static let longestLimit = Duration.seconds(86_400)
}
