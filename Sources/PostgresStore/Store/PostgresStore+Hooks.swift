package import FeedModel
import FeedStores
import Foundation
import PostgresClient

/// How far each hook has come. Of several daemons, one delivers what a hook is told: it holds a lease on the hook's row.
extension PostgresStore {
    /// The seconds for which the right to deliver holds without being renewed, by the server's clock.
    private static let secondsHeld = 15

    private static let hookQuery =
        "SELECT transaction, run, "
        + HookState.columns.map { $0.hasSuffix("_at") || $0 == "next_attempt" ? PostgresDate.sql($0) : $0 }
        .joined(separator: ", ") + " FROM tributary_hook"

    package func hookStates() throws -> [String: HookState] {
        try ask { connection in
            try connection.execute(Self.hookQuery).map(HookState.init).reduce(into: [:]) { $0[$1.name] = $1 }
        }
    }

    package func hookState(_ name: String) throws -> HookState? {
        try ask { connection in
            try connection.execute("\(Self.hookQuery) WHERE name = $1", [.text(name)]).first.map(HookState.init)
        }
    }

    package func declareHooks(_ names: Set<String>) throws -> [String] {
        let known = Set(try hookStates().keys)
        guard known != names else { return [] }
        return try write { connection in
            let position = try Self.lastPosition(connection)
            for name in names.subtracting(known).sorted() {
                try connection.execute(
                    """
                    INSERT INTO tributary_hook (transaction, run, name) VALUES ($1::xid8, $2, $3)
                    ON CONFLICT (name) DO NOTHING
                    """, position.postgresValues + [.text(name)])
            }
            // Another daemon may have a newer file, which declares it.
            let forgotten = try connection.execute(
                """
                DELETE FROM tributary_hook
                WHERE name = ANY ($1) AND coalesce(held_until < clock_timestamp(), true) AND NOT EXISTS (
                    SELECT 1 FROM tributary_daemon
                    WHERE id <> $2 AND seen_at > clock_timestamp() - interval '\(DaemonRecord.secondsToLive) seconds')
                RETURNING name
                """,
                [.textArray(try PostgresTextArray(known.subtracting(names).sorted())), .text(leases.holder)]
            ).compactMap { $0.string(0) }
            try connection.execute(
                "DELETE FROM tributary_hook_source WHERE hook = ANY ($1)",
                [.textArray(try PostgresTextArray(forgotten))])
            return forgotten
        }
    }

    package func holdHook(_ name: String) throws -> Bool {
        try ask { connection in
            try connection.execute(
                """
                UPDATE tributary_hook
                SET holder = $2, held_until = clock_timestamp() + interval '\(Self.secondsHeld) seconds'
                WHERE name = $1 AND (holder = $2 OR holder IS NULL OR coalesce(held_until < clock_timestamp(), true))
                """, [.text(name), .text(leases.holder)]
            ).affectedRows > 0
        }
    }

    package func releaseHook(_ name: String) throws {
        try ask { connection in
            _ = try connection.execute(
                "UPDATE tributary_hook SET holder = NULL, held_until = NULL WHERE name = $1 AND holder = $2",
                [.text(name), .text(leases.holder)])
        }
    }

    package func hookMemories(_ name: String) throws -> [String: HookMemory] {
        try ask { connection in
            try connection.execute(
                "SELECT source, failing, held FROM tributary_hook_source WHERE hook = $1", [.text(name)]
            ).reduce(into: [:]) { memories, row in
                memories[row.string(0) ?? ""] = HookMemory(
                    isFailing: try row.bool(1) ?? false, isHeld: try row.bool(2) ?? false)
            }
        }
    }

    package func advanceHook(_ name: String, _ progress: HookProgress) throws {
        try write { connection in
            let advanced = try connection.execute(
                """
                UPDATE tributary_hook SET transaction = $1::xid8, run = $2, step = $3,
                    delivered_at = coalesce($4, delivered_at), attempts = 0, next_attempt = NULL, error = NULL, gone = NULL,
                    held_until = clock_timestamp() + interval '\(Self.secondsHeld) seconds'
                WHERE name = $5 AND holder = $6
                """,
                progress.position.postgresValues + [
                    .integer(Int64(progress.step)), progress.deliveredAt.map(PostgresDate.value), .text(name),
                    .text(leases.holder),
                ])
            guard advanced.affectedRows > 0 else { throw StoreError.hookLost(name) }
            guard let (source, memory) = progress.memory else { return }
            if memory == HookMemory() {
                try connection.execute(
                    "DELETE FROM tributary_hook_source WHERE hook = $1 AND source = $2", [.text(name), .text(source)])
            } else {
                try connection.execute(
                    """
                    INSERT INTO tributary_hook_source (hook, source, failing, held) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (hook, source) DO UPDATE SET failing = EXCLUDED.failing, held = EXCLUDED.held
                    """, [.text(name), .text(source), .bool(memory.isFailing), .bool(memory.isHeld)])
            }
        }
    }

    package func noteFailure(ofHook name: String, _ failure: HookFailure) throws {
        try write { connection in
            let noted = try connection.execute(
                """
                UPDATE tributary_hook SET attempts = $1, next_attempt = $2, error = $3, gone = $4
                WHERE name = $5 AND holder = $6
                """,
                [
                    .integer(Int64(failure.attempts)), failure.nextAttempt.map(PostgresDate.value),
                    .text(failure.error.storable), failure.gone.map { .text($0) }, .text(name), .text(leases.holder),
                ])
            guard noted.affectedRows > 0 else { throw StoreError.hookLost(name) }
        }
    }
}

extension HookState {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(name: row.string(2) ?? "", position: try RunPosition(row))
        step = try row.int(3) ?? 0
        deliveredAt = try row.date(4)
        attempts = try row.int(5) ?? 0
        nextAttempt = try row.date(6)
        error = row.string(7)
        gone = row.string(8)
    }
}

extension StoreError {
    fileprivate static func hookLost(_ name: String) -> StoreError {
        StoreError(.conflict, "the hook '\(name)' is served by another daemon now")
    }
}
