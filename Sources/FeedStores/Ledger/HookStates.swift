package import FeedModel
import Foundation

/// The position of each hook, and the conditions of sources that it was notified of: `tributary_hook` and
/// `tributary_hook_source`.
package struct HookStates: LedgerPart {
    let ledger: Ledger

    /// Returns the states of all hooks, by name.
    package func all() throws -> [String: HookState] {
        try states("").reduce(into: [:]) { $0[$1.name] = $1 }
    }

    package func state(of name: String) throws -> HookState? { try states(" WHERE name = \(bind: name)").first }

    private func states(_ conditions: SQLText) throws -> [HookState] {
        try session.all("SELECT \(columns(OwnTables.hooks.reader)) FROM \(dialect.hook)\(conditions)") {
            try read(OwnTables.hooks.reader, $0)
        }
    }

    /// Adds hooks, which begin with the runs that come now.
    package func add(_ names: Set<String>) throws {
        let position = try ledger.changelog.lastPosition()
        for name in names.sorted() {
            let hook = try OwnTables.hooks.insertion(
                of: [HookState(name: name, position: position)], dialect.tables)
            try session.execute("\(hook) ON CONFLICT (name) DO NOTHING")
        }
    }

    /// Deletes hooks that no other process can be using.
    ///
    /// - Returns: the names of the deleted hooks.
    package func forget(_ names: Set<String>) throws -> [String] {
        let unused: SQLText = ledger.leases.map { " AND \(isUnused(by: $0))" } ?? ""
        let forgotten = try session.all(
            "DELETE FROM \(dialect.hook) WHERE \(dialect.isAmong("name", names.sorted()))\(unused) RETURNING name"
        ) { $0.string(0) ?? "" }
        try session.execute("DELETE FROM \(dialect.hookSource) WHERE \(dialect.isAmong("hook", forgotten))")
        return forgotten.sorted()
    }

    /// The condition that no other process can be using a hook. Another daemon may have a newer file, which declares it.
    private func isUnused(by leases: Leases) -> SQLText {
        """
        coalesce(held_until < \(dialect.now), true) AND NOT EXISTS (
            SELECT 1 FROM \(dialect.daemon)
            WHERE id <> \(bind: leases.holder) AND seen_at > \(dialect.now(plus: -DaemonRecord.secondsToLive)))
        """
    }

    /// Takes the lease on a hook, or renews it.
    ///
    /// - Returns: false while another process holds it.
    func hold(_ name: String, _ holder: String) throws -> Bool {
        try session.execute(
            """
            UPDATE \(dialect.hook) SET holder = \(bind: holder), held_until = \(dialect.now(plus: Leases.hookSeconds))
            WHERE name = \(bind: name)
            AND (holder = \(bind: holder) OR holder IS NULL OR coalesce(held_until < \(dialect.now), true))
            """) > 0
    }

    /// Gives up the lease on a hook.
    func release(_ name: String, _ holder: String) throws {
        try session.execute(
            """
            UPDATE \(dialect.hook) SET holder = NULL, held_until = NULL
            WHERE name = \(bind: name) AND holder = \(bind: holder)
            """)
    }

    /// Returns the conditions that a hook was notified of, by source.
    package func memories(of name: String) throws -> [String: HookMemory] {
        let reader = OwnTables.hookSources.reader
        var memories: [String: HookMemory] = [:]
        try session.forEachRow(
            of: "SELECT \(columns(reader)) FROM \(dialect.hookSource) WHERE hook = \(bind: name)"
        ) { row in
            let found = try read(reader, row)
            memories[found.source] = found.memory
            return true
        }
        return memories
    }

    /// Records that an event has been delivered, or passed over.
    ///
    /// - Throws: ``FeedModel/StoreError`` if the lease on the hook has gone to another process.
    package func advance(_ name: String, _ progress: HookProgress) throws {
        let renewal: SQLText = ledger.leases == nil ? "" : ", held_until = \(dialect.now(plus: Leases.hookSeconds))"
        try update(
            name,
            """
            \(dialect.assignments(of: progress.position)), step = \(bind: progress.step),
            delivered_at = coalesce(\(bind: progress.deliveredAt), delivered_at), attempts = 0, next_attempt = NULL, error = NULL, gone = NULL,
            pending = NULL\(renewal)
            """)
        guard let (source, memory) = progress.memory else { return }
        if memory == HookMemory() {
            try session.execute(
                "DELETE FROM \(dialect.hookSource) WHERE hook = \(bind: name) AND source = \(bind: source)")
        } else {
            let row = HookSourceRow(hook: name, source: source, memory: memory)
            try session.execute(OwnTables.hookSources.upsert(of: [row], dialect.tables))
        }
    }

    /// Notes the event that is delivered next, and that all runs before it have been handled.
    ///
    /// - Throws: ``FeedModel/StoreError`` if the lease on the hook has gone to another process.
    package func begin(_ name: String, _ event: String, after progress: HookProgress) throws {
        try update(
            name,
            """
            \(dialect.assignments(of: progress.position)), step = \(bind: progress.step),
            pending = \(bind: event)
            """)
    }

    /// Records that an event could not be delivered.
    ///
    /// - Throws: ``FeedModel/StoreError`` if the lease on the hook has gone to another process.
    package func recordFailure(of name: String, _ failure: HookFailure) throws {
        try update(
            name,
            """
            attempts = \(bind: failure.attempts), next_attempt = \(bind: failure.nextAttempt),
            error = \(bind: failure.error.storable), gone = \(bind: failure.gone)
            """)
    }

    /// Lets an event that could not be delivered be sent again at once, also where its receiver was gone.
    ///
    /// - Returns: false where there is none.
    package func retry(_ name: String) throws -> Bool {
        try session.execute(
            """
            UPDATE \(dialect.hook) SET next_attempt = NULL, gone = NULL
            WHERE name = \(bind: name) AND (next_attempt IS NOT NULL OR gone IS NOT NULL)
            """) > 0
    }

    private func update(_ name: String, _ assignments: SQLText) throws {
        let isHeld: SQLText = ledger.leases.map { " AND holder = \(bind: $0.holder)" } ?? ""
        let updated = try session.execute(
            "UPDATE \(dialect.hook) SET \(assignments) WHERE name = \(bind: name)\(isHeld)")
        guard updated > 0 || ledger.leases == nil else {
            throw StoreError(.conflict, "the hook '\(name)' is served by another daemon now")
        }
    }
}

extension MainStore {
    /// Registers new hooks, which begin with the next run, and deletes all others. While another daemon runs on the
    /// store, none is deleted: its file may declare the hook. Where nothing changes, the store is only read.
    ///
    /// - Returns: the names of the deleted hooks.
    package func declareHooks(_ names: Set<String>) throws -> [String] {
        let known = Set(try read { try $0.hooks.all() }.keys)
        guard known != names else { return [] }
        return try write { ledger in
            try ledger.hooks.add(names.subtracting(known))
            return try ledger.hooks.forget(known.subtracting(names))
        }
    }
}

extension Ledger {
    package var hooks: HookStates { HookStates(ledger: self) }
}
