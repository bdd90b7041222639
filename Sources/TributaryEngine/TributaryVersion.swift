/// The version that `--version` and the User-Agent give.
package enum TributaryVersion {
    package static let current = "0.1.0"
}
