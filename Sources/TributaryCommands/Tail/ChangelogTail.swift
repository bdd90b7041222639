import FeedModel
import FeedStores
import Foundation
import Synchronization
import TributaryEngine

/// Writes the changelog as lines, and goes on as commits come.
///
/// Blocks its thread.
final class ChangelogTail: Sendable {
    /// The seconds for which commits are waited for that an older transaction holds up.
    private static let timeLimit = 10.0

    private let store: any MainStore
    private let sources: Set<String>
    private let after: Int64?
    private let follows: Bool
    private let isJSON: Bool
    private let images: ChangelogReader.Images?
    private let terminal = Terminal()
    private let isStopped = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - sources: empty for all.
    ///   - after: the id of the last row that was read.
    ///   - images: nil for the keys of rows alone.
    init(
        _ store: any MainStore, sources: Set<String>, after: Int64?, follows: Bool, isJSON: Bool,
        images: ChangelogReader.Images?
    ) {
        self.images = images
        self.store = store
        self.sources = sources
        self.after = after
        self.follows = follows
        self.isJSON = isJSON
    }

    /// Makes the tail end soon, or look at once.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wake.signal()
    }

    /// - Throws: ``StoreError``, ``Failure`` where the changelog does not reach so far, or an error of the output.
    func run() throws {
        let output = TailOutput()
        let listening = follows ? (store as? any SharedStore)?.listen { [wake] _ in wake.signal() } : nil
        defer { listening?.stop() }
        try run(output)
        try output.flush()
    }

    private var hasEnded: Bool { isStopped.load(ordering: .acquiring) }

    private func run(_ output: TailOutput) throws {
        var reader = ChangelogReader(store, sources: sources, after: after, images: images)
        let limitEnd = ContinuousClock.now + .seconds(Self.timeLimit)
        while !hasEnded {
            let read: [TailLine]?
            do {
                read = try follows ? reader.next() : reader.nextUnlessHeldUp()
            } catch let ahead as ChangelogReader.Ahead {
                throw Failure.usage("--after \(ahead)")
            }
            for line in read ?? [] { try write(line, output) }
            guard read?.isEmpty ?? true else { continue }
            try output.flush()
            if follows {
                // On a server, messages come sooner; a file is looked at.
                _ = wake.wait(timeout: .now() + .milliseconds(store is any SharedStore ? 1_000 : 200))
                try output.check()
            } else if read == nil {
                guard ContinuousClock.now < limitEnd else { return try write(TailLine(.heldUp), output) }
                _ = wake.wait(timeout: .now() + .milliseconds(20))
            } else {
                return
            }
        }
    }

    private func write(_ line: TailLine, _ output: TailOutput) throws {
        if isJSON { return try output.write(JSONOutput.line(line)) }
        for part in terminal.wrapped(line.text, after: "", indent: 4) { try output.write(part.text) }
    }
}

/// Standard output for many lines: written in large pieces, and known to have a reader.
final class TailOutput {
    private static let pieceSize = 64 << 10
    private var bytes: [UInt8] = []

    /// - Throws: ``OutputError``.
    func write(_ line: String) throws {
        bytes += line.utf8
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count >= Self.pieceSize { try flush() }
    }

    /// - Throws: ``OutputError``.
    func flush() throws {
        try Terminal.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// - Throws: ``OutputError/unread`` where nobody reads any more, without writing anything.
    func check() throws {
        var descriptor = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        guard poll(&descriptor, 1, 0) > 0 else { return }
        if Int32(descriptor.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 { throw OutputError.unread }
    }
}
