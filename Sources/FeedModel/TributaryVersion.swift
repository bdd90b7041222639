import CBuildCommit

/// The program that runs, as `--version`, the User-Agent and the store name it.
package enum TributaryVersion {
    /// The version, as `CHANGELOG.md` has it.
    package static let version = "1.0.0"
    /// The short name of the commit, or `development` where the build was not told of one.
    package static let commit = tributary_build_commit().map { String(cString: $0) } ?? "development"
    /// Both: `1.0.0 (6ea533f)`.
    package static let full = "\(version) (\(commit))"
    /// The address at which operators of servers learn who sends the requests.
    package static let home = "https://github.com/tributary-sync/tributary"

    /// Says why this program does not use a store whose tables it does not know.
    ///
    /// - Parameter other: the program that changed them last, as ``full`` names it; nil where nobody noted it.
    package static func refusal(ofTablesMigratedBy other: String?) -> String {
        guard let other else { return "it was migrated by a newer tributary than this, \(full): install the newest" }
        return "it was migrated by tributary \(other), and this is \(full): install \(other) or newer"
    }
}
