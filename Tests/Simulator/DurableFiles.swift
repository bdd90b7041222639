import CJobHook
import Foundation
import TestSupport

/// What a power failure leaves of the files that SQLite has in a folder.
///
/// What was synced stays. Each later write is kept, lost or torn, whatever becomes of the others, as in SQLite's own
/// test6.c. A file that was made or deleted is there or not, until its folder is synced.
final class DurableFiles {
    private enum Change {
        case write([UInt8], at: Int)
        case cut(Int)
    }

    private final class File {
        /// What was synced.
        var bytes: [UInt8]
        var unsynced: [Change] = []

        init(_ bytes: [UInt8]) { self.bytes = bytes }
    }

    let folder: String
    /// The files by their paths, as processes see them.
    private var files: [String: File] = [:]
    /// The same as the folder's last sync has left it.
    private var entries: [String: File] = [:]

    init(in folder: String) { self.folder = folder }

    /// Returns true for a path in the folder, but not in one below it, where scratch files are.
    func has(_ path: String) -> Bool {
        path.hasPrefix(folder + "/") && !path.dropFirst(folder.count + 1).contains("/")
    }

    /// Takes note of a call that is made.
    func take(_ call: tributary_disk_call) {
        let path = String(cString: call.path)
        switch Int(call.operation) {
        case TRIBUTARY_DISK_OPENS:
            guard files[path] == nil else { return }
            if let bytes = FileManager.default.contents(atPath: path) {
                files[path] = File([UInt8](bytes))
                entries[path] = files[path]
            } else if call.at == 1 {
                files[path] = File([])
            }
        case TRIBUTARY_DISK_WRITES:
            let bytes = [UInt8](UnsafeRawBufferPointer(start: call.bytes, count: Int(call.count)))
            files[path]?.unsynced.append(.write(bytes, at: Int(call.at)))
        case TRIBUTARY_DISK_CUTS:
            files[path]?.unsynced.append(.cut(Int(call.at)))
        case TRIBUTARY_DISK_SYNCS, TRIBUTARY_DISK_SYNCS_FOLDER:
            if let file = files[path] {
                for change in file.unsynced { Self.make(change, in: &file.bytes) }
                file.unsynced = []
            }
            if call.operation == TRIBUTARY_DISK_SYNCS_FOLDER { entries = files }
        case TRIBUTARY_DISK_DELETES, TRIBUTARY_DISK_DELETES_FOR_GOOD:
            files[path] = nil
            if call.operation == TRIBUTARY_DISK_DELETES_FOR_GOOD { entries = files }
        default: break
        }
    }

    private static func make(_ change: Change, in bytes: inout [UInt8]) {
        switch change {
        case .cut(let size):
            if size < bytes.count { bytes.removeLast(bytes.count - size) }
        case .write(let new, let start):
            if bytes.count < start { bytes += [UInt8](repeating: 0, count: start - bytes.count) }
            bytes.replaceSubrange(start..<min(start + new.count, bytes.count), with: new)
        }
    }

    // MARK: - Power failures

    /// The files that a power failure has left.
    struct Left {
        fileprivate let folder: String
        /// nil for a file that is gone.
        fileprivate let files: [String: [UInt8]?]
        /// The writes that were not synced, and how many of them are there whole.
        let unsynced: Int
        let kept: Int

        /// Puts them into a copy of the folder.
        func write(into copy: String) throws {
            for (path, bytes) in files {
                let url = URL(fileURLWithPath: copy + path.dropFirst(folder.count))
                if let bytes {
                    try Data(bytes).write(to: url)
                } else if FileManager.default.fileExists(atPath: url.path) {
                    try FileManager.default.removeItem(at: url)
                }
            }
            // Memory that the processes shared.
            for file in try FileManager.default.contentsOfDirectory(atPath: copy) where file.hasSuffix("-shm") {
                try FileManager.default.removeItem(atPath: copy + "/" + file)
            }
        }
    }

    func afterPowerFailure(_ random: inout SplitMix64) -> Left {
        var (left, unsynced, kept): ([String: [UInt8]?], Int, Int) = ([:], 0, 0)
        for path in Set(files.keys).union(entries.keys).sorted() {
            var file = files[path]
            if file !== entries[path], random.oneIn(2) { file = entries[path] }
            guard let file else {
                left[path] = .some(nil)
                continue
            }
            unsynced += file.unsynced.count
            left[path] = Self.part(of: file, &kept, &random)
        }
        return Left(folder: folder, files: left, unsynced: unsynced, kept: kept)
    }

    /// Has a sync of a file fail. Linux takes what was to be written for written then, so no later sync writes it.
    func failSync(of path: String, _ random: inout SplitMix64) {
        guard let file = files[path] else { return }
        var kept = 0
        file.bytes = Self.part(of: file, &kept, &random)
        file.unsynced = []
    }

    /// Returns what there is of a file where any part of what was not synced is written.
    ///
    /// - Parameter kept: is increased by the number of writes that are there whole.
    private static func part(of file: File, _ kept: inout Int, _ random: inout SplitMix64) -> [UInt8] {
        // Some disks lose all that was not synced, others nearly nothing.
        let losses = [0, 1, 4, 7, 8].randomElement(using: &random) ?? 4
        var bytes = file.bytes
        for change in file.unsynced {
            if Int.random(in: 0..<8, using: &random) < losses { continue }
            if case .write(let new, let start) = change, random.oneIn(4) {
                tear(new, start, in: &bytes, &random)
            } else {
                make(change, in: &bytes)
                kept += 1
            }
        }
        return bytes
    }

    private static let sector = 512

    /// Makes a write sector by sector. Some of them stay as they are, and some get anything.
    private static func tear(_ new: [UInt8], _ start: Int, in bytes: inout [UInt8], _ random: inout SplitMix64) {
        var offset = 0
        while offset < new.count {
            let end = min(new.count, ((start + offset) / sector + 1) * sector - start)
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                make(
                    .write((offset..<end).map { _ in UInt8.random(in: 0...255, using: &random) }, at: start + offset),
                    in: &bytes)
            case 1...4: make(.write(Array(new[offset..<end]), at: start + offset), in: &bytes)
            default: break
            }
            offset = end
        }
    }
}
