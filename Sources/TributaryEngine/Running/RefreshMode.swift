/// What a refresh pays no heed to.
public enum RefreshMode: Sendable, Equatable {
    /// Nothing: a source that is not due is left alone.
    case whenDue
    /// The cache interval and the back-off.
    case force
    /// The validators besides: every request is unconditional.
    case full

    var ignoresDueTime: Bool { self != .whenDue }
    var ignoresValidators: Bool { self == .full }
}
