/// The version that `--version` and the User-Agent give.
package enum TributaryVersion {
    package static let current = "0.1.0"
    /// The address at which operators of servers learn who sends the requests.
    package static let home = "https://github.com/tributary-sync/tributary"
}
