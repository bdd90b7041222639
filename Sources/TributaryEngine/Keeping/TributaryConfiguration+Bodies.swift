package import FeedDeclarations

extension TributaryConfiguration {
    /// Removes the kept bodies of a source that nobody runs.
    ///
    /// - Returns: the paths of those that could not be removed.
    package func removeBodies(of source: String) -> [String] {
        BodyFolder(path: bodyFolder).tidy(source, keeping: [])
    }
}
