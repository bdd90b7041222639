package import FeedModel
import Foundation

/// The records that a run has left out. They wait in a file for the commit: memory holds their places in it.
package final class RejectedRecords: Sendable {
    /// The most records of a run that are kept. Further ones are counted.
    package static let most = 1_000
    /// The most bytes of a record's text. A longer one is cut.
    package static let longestRecord = 64 << 10
    /// The most bytes of a reason or a key.
    private static let longestText = 4 << 10
    /// The most bytes of the file.
    private static let mostBytes = 64 << 20

    private struct Place {
        var request: Int
        var offset: Int
        var count: Int
    }

    private struct State {
        var places: [Place] = []
        var file: FileHandle?
        var end = 0
        var requests: [String] = []
        var redact: @Sendable (String) -> String = { $0 }
    }

    private let folder: String
    private let state = Mutex(State())

    /// - Parameter folder: the folder on whose disk the file lies.
    package init(folder: String) { self.folder = folder }

    /// Sets the keys of the run's requests, and what removes secrets from texts of the feed.
    package func prepare(requests: [String], redact: @escaping @Sendable (String) -> String) {
        state.withLock { ($0.requests, $0.redact) = (requests, redact) }
    }

    package var isEmpty: Bool { state.withLock(\.places.isEmpty) }

    /// Returns a text of the feed without secrets of the configuration, and not much longer than a record may be.
    package func shown(_ text: String) -> String {
        state.withLock(\.redact)(text.prefix(bytes: 2 * Self.longestRecord))
    }

    /// Keeps a record, unless the run has kept as many as it may.
    ///
    /// - Parameters:
    ///   - request: the position of its request.
    ///   - record: makes the record; called for one that is kept.
    /// - Throws: ``StoreError`` if it cannot be written.
    func add(of request: Int, _ record: () throws -> RejectedRecord) throws {
        guard state.withLock({ $0.places.count < Self.most && $0.end < Self.mostBytes }) else { return }
        var new = try record()
        new.reason = shown(new.reason).prefix(bytes: Self.longestText)
        new.key = new.key.map { shown($0).prefix(bytes: Self.longestText) }
        new.record = shown(new.record).prefix(bytes: Self.longestRecord)
        try state.withLock { state in
            new.request = state.requests.indices.contains(request) ? state.requests[request] : nil
            let data = try JSONEncoder().encode(new)
            guard state.end + data.count <= Self.mostBytes else { return }
            do {
                let file = try state.file ?? UnnamedFile.make(in: folder)
                state.file = file
                try file.seek(toOffset: UInt64(state.end))
                try file.write(contentsOf: data)
            } catch {
                throw StoreError(
                    .unavailable, "a record that was left out cannot be kept in the folder \(folder): \(error)")
            }
            state.places.append(Place(request: request, offset: state.end, count: data.count))
            state.end += data.count
        }
    }

    /// Forgets the records of a request that is sent again.
    func forget(_ request: Int) { state.withLock { $0.places.removeAll { $0.request == request } } }

    /// Returns records in the order in which they were read.
    ///
    /// - Parameter start: the number of records before them.
    /// - Throws: ``StoreError`` if they cannot be read.
    package func records(from start: Int, limit: Int) throws -> [RejectedRecord] {
        try state.withLock { state in
            try state.places.dropFirst(start).prefix(limit).map { place in
                do {
                    try state.file?.seek(toOffset: UInt64(place.offset))
                    return try JSONDecoder().decode(
                        RejectedRecord.self, from: state.file?.read(upToCount: place.count) ?? Data())
                } catch {
                    throw StoreError(
                        .unavailable, "a record that was left out cannot be read in the folder \(folder): \(error)")
                }
            }
        }
    }
}

extension String {
    /// Returns the text, or as much of its beginning as a number of bytes holds.
    package func prefix(bytes: Int) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(startIndex, offsetBy: bytes)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
