package import FeedModel

/// A store on which several daemons may run. They know each other through it.
///
/// Methods block their thread, so none is called from the cooperative pool.
package protocol SharedStore: MainStore {
    /// The name under which this store's runs hold their claims, and by which its daemon is known.
    var daemonID: String { get }

    /// The time since some fixed moment, by which the store's claims end.
    var uptime: Duration { get }

    /// Writes a daemon's heartbeat. Notifies the others at once if it is new, or declares or shares differently.
    ///
    /// - Returns: all living daemons, including this one.
    func beat(_ daemon: DaemonRecord) throws -> [DaemonRecord]

    /// Records that this store's daemon has ended, and notifies the others.
    func leave() throws

    /// Returns the daemons that live.
    func daemons() throws -> [DaemonRecord]

    /// Returns the holder of the claim of each running source, by source.
    func runners() throws -> [String: String]

    /// Returns how sources stand now; all that the store knows for nil.
    func standings(of sources: [String]?) throws -> [String: SourceStanding]

    /// Asks all daemons to refresh the sources that are theirs: these, or all where there are none.
    func requestRefresh(_ sources: [String]) throws

    /// Notifies all daemons that the failed event of a hook is to be sent again.
    func notifyRetry(ofHook name: String) throws

    /// Receives messages on a thread of its own, until it is stopped. A connection that is lost is made again.
    func listen(_ receive: @escaping @Sendable ([StoreMessage]) -> Void) -> any StoreListening
}

/// The state of a source that a daemon has taken over.
package struct SourceStanding: Sendable {
    /// nil for a source that never ran.
    package var state: SourceState?
    /// The server that its last run asks or asked first, even if the run has not ended.
    package var origin: String?
    /// True while a run of another daemon holds the source, even of one that died a moment ago.
    package var isRunElsewhere: Bool
}

/// A message that came from another process through a store.
package enum StoreMessage: Sendable, Equatable {
    /// A request to refresh these sources, or all (empty), now.
    case refresh([String])
    /// A request to send the failed event of this hook again, now.
    case retry(String)
    /// Another process has committed rows of this source.
    case ran(String)
    /// Daemons have come, gone, or changed, or messages may have been missed.
    case daemonsChanged
    /// Nothing can be received for now.
    case lost(String)
}

/// What receives a store's messages.
package protocol StoreListening: Sendable {
    func stop()
}
