import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A way to a server that counts round trips: how often a client has said something after the server had answered. It listens on
/// a Unix socket in a folder of its own.
package final class RoundTripCounter: Sendable {
    private let server: String
    private let port: Int
    private let folder: String
    private let listener: Int32
    private let count = Atomic(0)
    private let dropped = Atomic(0)

    package var roundTrips: Int { count.load(ordering: .acquiring) }

    package init(to database: TestDatabase) throws {
        server = "\(database.server.folder)/.s.PGSQL.\(database.server.port)"
        port = database.server.port
        folder = FileManager.default.temporaryDirectory.path + "/trips-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isListening = Self.withAddress("\(folder)/.s.PGSQL.\(port)") { bind(listener, $0, $1) == 0 }
        guard isListening, listen(listener, 16) == 0 else { throw POSIXError(.EIO) }
        Thread.detachNewThread { [self] in accept() }
    }

    /// Ends the connection in place of the answer to a round trip, counted from 1.
    package func dropAnswer(toRoundTrip number: Int) { dropped.store(number, ordering: .releasing) }

    /// To be called when the clients have gone.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(atPath: folder)
    }

    package func connectionString(database: String) -> String {
        "host=\(folder) port=\(port) dbname=\(database) user=postgres"
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { break }
            Thread.detachNewThread { [self] in forward(client) }
        }
        close(listener)
    }

    private func forward(_ client: Int32) {
        let other = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer {
            close(client)
            close(other)
        }
        guard Self.withAddress(server, { connect(other, $0, $1) == 0 }) else { return }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var isAnswered = true
        while true {
            var both = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&both, 2, -1) > 0 else { return }
            for (index, descriptor) in both.enumerated() where descriptor.revents != 0 {
                let length = read(descriptor.fd, &buffer, buffer.count)
                guard length > 0 else { return }
                if index == 0, isAnswered { count.add(1, ordering: .releasing) }
                isAnswered = index == 1
                if isAnswered, dropped.load(ordering: .acquiring) == roundTrips { return }
                var sent = 0
                while sent < length {
                    let written = write(index == 0 ? other : client, Array(buffer[sent..<length]), length - sent)
                    guard written > 0 else { return }
                    sent += written
                }
            }
        }
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
