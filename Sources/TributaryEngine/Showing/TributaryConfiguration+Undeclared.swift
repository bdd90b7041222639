package import FeedDeclarations
package import FeedModel

/// Sources that are only in the store.
extension TributaryConfiguration {
    /// Returns the names of stored sources that are not declared.
    package func undeclaredSources(among states: [String: SourceState]) -> [String] {
        states.keys.filter { self[source: $0] == nil }.sorted()
    }

    /// Returns the note on such a source.
    package static func undeclared(_ source: String) -> String {
        "source '\(source)' is in the store and no longer declared; `tributary purge \(source)` deletes what it has written"
    }
}
