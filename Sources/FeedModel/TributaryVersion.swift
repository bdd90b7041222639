/// The version that `--version` and the User-Agent give.
package enum TributaryVersion {
    package static let current = "0.1.0"
    /// Where those who are asked find out who asks.
    package static let home = "https://github.com/tributary-sync/tributary"
}
