import CBuildCommit

/// The program that runs, as `--version`, the User-Agent and the store name it.
package enum TributaryVersion {
    /// The version, as `CHANGELOG.md` has it.
    package static let version = "1.0.0"
    /// The short name of the commit, or `development` if the build does not know it.
    package static let commit = tributary_build_commit().map { String(cString: $0) } ?? "development"
    /// Both: `1.0.0 (6ea533f)`.
    package static let full = "\(version) (\(commit))"
    /// The address at which operators of servers learn who sends the requests.
    package static let home = "https://github.com/tributary-sync/tributary"

    /// Returns why this program does not use a store whose migrations it does not know.
    ///
    /// - Parameter other: the program that migrated it last, as ``full`` names it; nil if it is unknown.
    package static func refusal(ofTablesMigratedBy other: String?) -> String {
        guard let other else { return "it was migrated by a newer tributary than this, \(full): install the newest" }
        return "it was migrated by tributary \(other), and this is \(full): install \(other) or newer"
    }
}
