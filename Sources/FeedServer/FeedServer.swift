import Foundation

/// Serves a folder's files on a loopback port that the kernel chooses, for `Scripts/run` and `Scripts/bench`:
///
///     feed-server FOLDER PORT-FILE [--no-validators]
///
/// Each connection has a thread, and a file goes from the page cache to the socket without passing through the process,
/// so that a benchmark measures the client.
@main
struct FeedServer {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { fail("usage: feed-server FOLDER PORT-FILE [--no-validators]") }
        signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 128) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { fail("no loopback port: \(String(cString: strerror(errno)))") }
        let port = UInt16(bigEndian: address.sin_port)
        do {
            try "\(port)\n".write(toFile: arguments[2], atomically: true, encoding: .utf8)
        } catch {
            fail("\(arguments[2]) cannot be written: \(error)")
        }
        let folder = arguments[1]
        let hasValidators = !arguments.contains("--no-validators")
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { continue }
            Thread.detachNewThread {
                Connection(descriptor: connection, folder: folder, hasValidators: hasValidators).serve()
            }
        }
    }

    static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(1)
    }
}
