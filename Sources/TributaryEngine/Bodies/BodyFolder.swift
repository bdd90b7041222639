package import FeedConfiguration
package import FeedModel
package import FeedStores
import Foundation

/// The folder of kept bodies beside the store. Each source has a folder with a file for each request and run. Only this
/// user may read it.
///
/// The commit of the rows lists the valid files in the store, with the states of the requests. Other files are left
/// over from interrupted runs. The source's next successful run removes them. The files of a source that is not
/// declared stay until a purge, like its rows, because another configuration may declare it.
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

    /// Moves a finished file into the folder, durably.
    ///
    /// - Parameters:
    ///   - digest: the start of the name; equal for files with the same bodies.
    ///   - identifier: the end of the name; unique.
    /// - Returns: the file's name.
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

    /// Returns true if two names are those of the same bodies.
    static func holdTheSame(_ name: String, _ other: String) -> Bool {
        name.prefix { $0 != "-" } == other.prefix { $0 != "-" }
    }

    /// Returns true if a source has kept bodies.
    func exists(of source: String) -> Bool { access(folder(of: source), F_OK) == 0 }

    /// Removes all files of a source except those of these bodies.
    ///
    /// - Parameter isBlocked: true to keep the documents of the blocked run, too.
    /// - Returns: the paths of files that could not be removed.
    func tidy(_ source: String, keeping names: Set<String>, isBlocked: Bool = false) -> [String] {
        let folder = folder(of: source)
        let kept = Set(names.map { $0 + ".gz" }).union(isBlocked ? Self.blockedFiles(in: folder) : [])
        guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        var failed: [String] = []
        for file in files where !kept.contains(file) && unlink(folder + "/" + file) != 0 && errno != ENOENT {
            failed.append(folder + "/" + file)
        }
        // The folder is now empty.
        if kept.isEmpty { rmdir(folder) }
        return failed
    }

    /// Returns the names of the files of a blocked run.
    private static func blockedFiles(in folder: String) -> Set<String> {
        guard let run = blockedRun(in: folder) else { return [] }
        return Set(run.requests.compactMap { $0.bodies.map { $0 + ".gz" } }).union([blockedName, reviewName])
    }

    // MARK: - A blocked run

    /// Returns the blocked run of a source; nil without one, or if it cannot be read.
    func blockedRun(of source: String) -> BlockedRun? { Self.blockedRun(in: folder(of: source)) }

    private static func blockedRun(in folder: String) -> BlockedRun? {
        FileManager.default.contents(atPath: folder + "/" + blockedName).flatMap {
            try? JSONDecoder().decode(BlockedRun.self, from: $0)
        }
    }

    /// Returns the changes that the blocked run of a source would have made; nil if unknown.
    func review(of source: String) -> ChangeReview? {
        FileManager.default.contents(atPath: folder(of: source) + "/" + Self.reviewName).flatMap {
            try? JSONDecoder().decode(ChangeReview.self, from: $0)
        }
    }

    /// - Parameter review: the changes that it would have made; nil if unknown.
    /// - Throws: ``StoreError``
    func keep(_ run: BlockedRun, of source: String, _ review: ChangeReview?) throws {
        try makeFolder(of: source)
        // The run refers to the review, so it is written last.
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

extension TributaryConfiguration {
    /// Removes the kept bodies of a source that is not running.
    ///
    /// - Returns: the paths of files that could not be removed.
    package func removeBodies(of source: String) -> [String] {
        BodyFolder(path: bodyFolder).tidy(source, keeping: [])
    }

    /// Returns the counts of the changes of a blocked run; nil if unknown.
    package func blockedCounts(of run: RunReport) -> MergeCounts? {
        BodyFolder(path: bodyFolder).blockedRun(of: run.source).flatMap { $0.holds(for: run) ? $0.counts : nil }
    }

    /// Returns the counts of the rows that a run has changed, or that a blocked run would have changed.
    ///
    /// - Returns: nil for a blocked run of another daemon, or one whose documents are no longer kept.
    package func shownCounts(of run: RunReport) -> MergeCounts? {
        run.outcome == .blocked ? blockedCounts(of: run) : run.counts
    }

    /// Returns the changes that a blocked run would have made, the largest first. Reads a file of at most a few
    /// megabytes.
    ///
    /// - Returns: nil if unknown, for a run of another daemon or of an earlier release.
    package func review(of run: RunReport) -> ChangeReview? {
        let bodies = BodyFolder(path: bodyFolder)
        guard let blocked = bodies.blockedRun(of: run.source), blocked.holds(for: run),
            let review = bodies.review(of: run.source), review.digest == blocked.shown
        else { return nil }
        return review
    }

    /// Returns the blocked run of a source that waits with the documents and changes of a run: this run, or a later one
    /// that had the same; nil if none does.
    package func waitingRun(for run: Int64, of source: String, in store: any MainStore) throws -> Int64? {
        guard let waiting = try store.read({ try $0.runs.blocked(of: source) }) else { return nil }
        if waiting.number == run { return run }
        guard let former = try store.read({ try $0.runs.run(run) }), former.source == source,
            let blocked = BodyFolder(path: bodyFolder).blockedRun(of: source), blocked.isRecorded(as: waiting),
            blocked.holds(for: former)
        else { return nil }
        return waiting.number
    }
}
