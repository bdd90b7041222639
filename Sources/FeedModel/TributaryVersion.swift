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

    /// The prefix of the names of all migrations of Tributary's own tables.
    package static let migrationPrefix = "tributary."
    /// The first migration of the programs before 1.0.0, which were never released.
    private static let developmentMigration = "tributary.1"

    /// Returns why this program does not use a store; nil if it knows all migrations of Tributary's own tables there.
    ///
    /// - Parameters:
    ///   - applied: the migrations in the store, the last one first, with the programs that applied them, as ``full``
    ///     names them.
    ///   - known: the migrations of this program.
    package static func refusal(
        ofMigrations applied: [(name: String, program: String?)], known: some Collection<String>
    ) -> String? {
        if applied.contains(where: { $0.name == developmentMigration }) {
            return
                "its tables are those of a development version of tributary before 1.0.0, which no release reads: make a "
                + "new store by naming another one in [store], and run 'tributary sync'"
        }
        guard let newest = applied.first(where: { !known.contains($0.name) }) else { return nil }
        guard let program = newest.program else {
            return "it was migrated by a newer tributary than this, \(full): install the newest"
        }
        return "it was migrated by tributary \(program), and this is \(full): install \(program) or newer"
    }
}
