import FeedModel
import Foundation

/// The folder of kept bodies beside the store: for each source a folder of its own, and in it a file for each request and
/// run. Only this user may read it.
///
/// Which files count stands in the store, with the states of the requests, and is written by the commit of their rows.
/// Files that are not named there are left over from a run that did not end, and go with the source's next good run.
struct BodyFolder: Sendable {
    let path: String

    private static let blockedName = "blocked.json"
    private static let reviewName = "review.json"

    func folder(of source: String) -> String {
        path + "/" + SourceFileName.name(of: source)
    }

    func file(_ name: String, of source: String) -> String { folder(of: source) + "/" + name + ".gz" }

    func has(_ name: String?, of source: String) -> Bool {
        name.map { access(file($0, of: source), R_OK) == 0 } ?? false
    }

    /// Moves a finished file to its place, durably.
    ///
    /// - Parameters:
    ///   - digest: begins the name, and tells whether two files hold the same bodies.
    ///   - identifier: ends the name, and differs from all others.
    /// - Returns: the name under which it is kept.
    /// - Throws: ``StoreError``
    func place(_ temporary: String, of source: String, digest: String, identifier: String) throws -> String {
        let name = digest + "-" + identifier
        try makeFolder(of: source)
        guard rename(temporary, file(name, of: source)) == 0 else {
            let reason = String(cString: strerror(errno))
            throw Self.failure(file(name, of: source), reason)
        }
        try synchronize(folder(of: source))
        return name
    }

    /// Returns true where two names are those of the same bodies.
    static func holdTheSame(_ name: String, _ other: String) -> Bool {
        name.prefix { $0 != "-" } == other.prefix { $0 != "-" }
    }

    /// Returns true where anything is kept of a source.
    func exists(of source: String) -> Bool { access(folder(of: source), F_OK) == 0 }

    /// Removes all files of a source but those of these bodies.
    ///
    /// - Parameter isBlocked: true where the documents of the blocked run stay, too.
    /// - Returns: the paths of those that could not be removed.
    func tidy(_ source: String, keeping names: Set<String>, isBlocked: Bool = false) -> [String] {
        let folder = folder(of: source)
        let blocked = isBlocked ? Self.blockedFiles(in: folder) : []
        return Self.tidy(folder, keeping: Set(names.map { $0 + ".gz" }).union(blocked))
    }

    /// Returns the names of the files in which a blocked run is kept.
    private static func blockedFiles(in folder: String) -> Set<String> {
        guard let run = blockedRun(in: folder) else { return [] }
        return Set(run.requests.compactMap { $0.bodies.map { $0 + ".gz" } }).union([blockedName, reviewName])
    }

    private static func tidy(_ folder: String, keeping kept: Set<String>) -> [String] {
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        var failed: [String] = []
        for file in files where !kept.contains(file) && unlink(folder + "/" + file) != 0 && errno != ENOENT {
            failed.append(folder + "/" + file)
        }
        // It is empty where nothing is kept any more.
        if kept.isEmpty { rmdir(folder) }
        return failed
    }

    /// Removes the bodies of all sources but these. The documents of blocked runs stay: they may be another program's, that
    /// declares other sources of the store.
    func removeAll(but sources: Set<String>) {
        guard let folders = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
        let kept = Set(sources.map(SourceFileName.name))
        for name in folders where !kept.contains(name) {
            let folder = path + "/" + name
            _ = Self.tidy(folder, keeping: Self.blockedFiles(in: folder))
        }
    }

    // MARK: - A blocked run

    /// Returns the blocked run of a source; nil where none is kept, or where it cannot be read.
    func blockedRun(of source: String) -> BlockedRun? { Self.blockedRun(in: folder(of: source)) }

    private static func blockedRun(in folder: String) -> BlockedRun? {
        FileManager.default.contents(atPath: folder + "/" + blockedName).flatMap {
            try? JSONDecoder().decode(BlockedRun.self, from: $0)
        }
    }

    /// Returns the changes that the blocked run of a source would have made; nil where they are not known.
    func review(of source: String) -> ChangeReview? {
        FileManager.default.contents(atPath: folder(of: source) + "/" + Self.reviewName).flatMap {
            try? JSONDecoder().decode(ChangeReview.self, from: $0)
        }
    }

    /// - Parameter review: the changes that it would have made; nil where they are not known.
    /// - Throws: ``StoreError``
    func keep(_ run: BlockedRun, of source: String, _ review: ChangeReview?) throws {
        try makeFolder(of: source)
        // The run refers to the review, and so comes after it.
        unlink(folder(of: source) + "/" + Self.reviewName)
        if let review { try write(review, Self.reviewName, of: source) }
        try write(run, Self.blockedName, of: source)
    }

    private func write(_ value: some Encodable, _ name: String, of source: String) throws {
        let file = folder(of: source) + "/" + name
        do {
            try JSONEncoder().encode(value).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw Self.failure(file, error.localizedDescription)
        }
        chmod(file, 0o600)
    }

    // MARK: - Files

    private func makeFolder(of source: String) throws {
        for folder in [path, folder(of: source)] where mkdir(folder, 0o700) != 0 && errno != EEXIST {
            let reason = String(cString: strerror(errno))
            throw Self.failure(folder, reason)
        }
    }

    private func synchronize(_ folder: String) throws {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw Self.failure(folder, String(cString: strerror(errno)))
        }
    }

    static func failure(_ path: String, _ reason: String) -> StoreError {
        StoreError(.unavailable, "the body cannot be kept in \(path): \(reason)")
    }
}
