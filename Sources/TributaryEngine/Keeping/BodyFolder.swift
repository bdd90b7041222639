import FeedModel
import Foundation

/// The folder of kept bodies beside the store: for each source a folder of its own, and in it a file for each request and
/// run. Only this user may read it.
///
/// Which files count stands in the store, with the states of the requests, and is written by the commit of their rows.
/// Files that are not named there are left over from a run that did not end, and go with the source's next good run.
struct BodyFolder: Sendable {
    let path: String

    private static let heldName = "held.json"

    func folder(of source: String) -> String {
        path + "/" + SourceFileName.name(of: source)
    }

    func file(_ name: String, of source: String) -> String { folder(of: source) + "/" + name + ".gz" }

    func has(_ name: String?, of source: String) -> Bool {
        name.map { access(file($0, of: source), R_OK) == 0 } ?? false
    }

    /// Moves a finished file to its place, durably.
    ///
    /// - Parameter digest: begins the name, and tells whether two files hold the same bodies.
    /// - Returns: the name under which it is kept.
    /// - Throws: ``StoreError``
    func place(_ temporary: String, of source: String, digest: String) throws -> String {
        let name = digest + "-" + UUID().uuidString.lowercased()
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

    /// Removes all files of a source but those of these bodies.
    ///
    /// - Parameter isHeld: true where what is known of a run that was held back stays, too.
    /// - Returns: the paths of those that could not be removed.
    func tidy(_ source: String, keeping names: Set<String>, isHeld: Bool = false) -> [String] {
        Self.tidy(folder(of: source), keeping: Set(names.map { $0 + ".gz" }).union(isHeld ? [Self.heldName] : []))
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

    /// Removes the bodies of all sources but these.
    func removeAll(but sources: Set<String>) {
        guard let folders = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
        let kept = Set(sources.map(SourceFileName.name))
        for folder in folders where !kept.contains(folder) { _ = Self.tidy(path + "/" + folder, keeping: []) }
    }

    // MARK: - A run that was held back

    /// Returns what the last run of a source has left that was held back; nil where there was none, or where it cannot be
    /// read.
    func heldRun(of source: String) -> HeldRun? {
        FileManager.default.contents(atPath: folder(of: source) + "/" + Self.heldName).flatMap {
            try? JSONDecoder().decode(HeldRun.self, from: $0)
        }
    }

    /// - Throws: ``StoreError``
    func keep(_ run: HeldRun, of source: String) throws {
        try makeFolder(of: source)
        let file = folder(of: source) + "/" + Self.heldName
        do {
            try JSONEncoder().encode(run).write(to: URL(fileURLWithPath: file), options: .atomic)
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
