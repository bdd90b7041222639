/// The limits that a refresh ignores.
public enum RefreshMode: Sendable, Equatable {
    /// None: a source that is not due is left alone.
    case whenDue
    /// The cache interval and the back-off.
    case force
    /// The validators too: every request is unconditional.
    case full

    var ignoresDueTime: Bool { self != .whenDue }
    var ignoresValidators: Bool { self == .full }
}
