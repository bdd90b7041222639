/// How a run of a source ended.
public enum RunOutcome: String, Sendable, Codable, CaseIterable {
    /// The whole stack was merged into the main store.
    case committed
    /// The server said of every request that nothing has changed.
    case unchanged
    /// The source was not due; nothing was sent.
    case fresh
    /// Something failed; the main store's rows are what they were.
    case discarded
    /// The run was told to stop; the main store's rows are what they were.
    case cancelled

    /// Whether the next run is due after the source's cache interval rather than its back-off.
    public var isGood: Bool { self == .committed || self == .unchanged }
}
