package import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB
import Synchronization

/// How far each hook has come.
extension SQLiteStore {
    package func hookStates() throws -> [String: HookState] {
        try pool.read { db in
            try Row.fetchAll(db, sql: "\(Self.hookQuery)").map(HookState.init).reduce(into: [:]) { $0[$1.name] = $1 }
        }
    }

    package func hookState(_ name: String) throws -> HookState? {
        try pool.read { db in
            let query = try db.cachedStatement(sql: "\(Self.hookQuery) WHERE name = ?")
            return try Row.fetchOne(query, arguments: [name]).map(HookState.init)
        }
    }

    private static let hookQuery = "SELECT run, \(HookState.columns.joined(separator: ", ")) FROM tributary_hook"

    package func declareHooks(_ names: Set<String>) throws -> [String] {
        let known = try pool.read { try String.fetchSet($0, sql: "SELECT name FROM tributary_hook") }
        guard known != names else { return [] }
        let forgotten = known.subtracting(names).sorted()
        try pool.write { db in
            for name in names.subtracting(known) {
                try db.execute(
                    sql: """
                        INSERT OR IGNORE INTO tributary_hook (name, run)
                        SELECT ?, coalesce(max(id), 0) FROM tributary_run
                        """, arguments: [name])
            }
            for name in forgotten {
                try db.execute(sql: "DELETE FROM tributary_hook WHERE name = ?", arguments: [name])
                try db.execute(sql: "DELETE FROM tributary_hook_source WHERE hook = ?", arguments: [name])
            }
        }
        return forgotten
    }

    package func holdHook(_ name: String) throws -> Bool {
        try hookLocks.withLock { locks in
            if locks[name] != nil { return true }
            guard let lock = try RunLock(hook: name, storePath: path) else { return false }
            locks[name] = lock
            return true
        }
    }

    package func releaseHook(_ name: String) throws {
        hookLocks.withLock { $0.removeValue(forKey: name) }?.unlock()
    }

    package func hookMemories(_ name: String) throws -> [String: HookMemory] {
        try pool.read { db in
            try Row.fetchAll(
                db, sql: "SELECT source, failing, held FROM tributary_hook_source WHERE hook = ?", arguments: [name]
            ).reduce(into: [:]) { $0[$1[0]] = HookMemory(isFailing: $1[1], isHeld: $1[2]) }
        }
    }

    package func advanceHook(_ name: String, _ progress: HookProgress) throws {
        try pool.write { db in
            try db.execute(
                cached: """
                    UPDATE tributary_hook SET run = ?, step = ?, delivered_at = coalesce(?, delivered_at), attempts = 0,
                    next_attempt = NULL, error = NULL, gone = NULL WHERE name = ?
                    """,
                [progress.position.run, progress.step, progress.deliveredAt.map(StoreDate.text), name])
            guard let (source, memory) = progress.memory else { return }
            if memory == HookMemory() {
                try db.execute(
                    cached: "DELETE FROM tributary_hook_source WHERE hook = ? AND source = ?", [name, source])
            } else {
                try db.execute(
                    cached:
                        "INSERT OR REPLACE INTO tributary_hook_source (hook, source, failing, held) VALUES (?, ?, ?, ?)",
                    [name, source, memory.isFailing, memory.isHeld])
            }
        }
    }

    package func noteFailure(ofHook name: String, _ failure: HookFailure) throws {
        try pool.write { db in
            try db.execute(
                cached: "UPDATE tributary_hook SET attempts = ?, next_attempt = ?, error = ?, gone = ? WHERE name = ?",
                [failure.attempts, failure.nextAttempt.map(StoreDate.text), failure.error, failure.gone, name])
        }
    }
}

extension HookState {
    fileprivate init(_ row: Row) {
        self.init(name: row[1], position: RunPosition(run: row[0]))
        step = row[2]
        deliveredAt = StoreDate.date(row[3])
        attempts = row[4]
        nextAttempt = StoreDate.date(row[5])
        error = row[6]
        gone = row[7]
    }
}
