/// The version that `--version` and the User-Agent give.
package enum TributaryVersion {
    package static let current = "0.1.0"
    package static var version: String { current }
    /// The commit that was built.
    package static let commit = "unknown"
    /// The address at which operators of servers learn who sends the requests.
    package static let home = "https://github.com/tributary-sync/tributary"
}
