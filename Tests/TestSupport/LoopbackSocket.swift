import Foundation

/// A socket of IPv4 on the loopback interface, for tests that need plain bytes.
package struct LoopbackSocket: Sendable {
    package let descriptor: Int32

    /// Makes one that listens on a port that the kernel chooses.
    package static func listening() throws -> (LoopbackSocket, port: Int) {
        let socket = try LoopbackSocket()
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.descriptor, $0, length) == 0 && listen(socket.descriptor, 16) == 0
                    && getsockname(socket.descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            socket.end()
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Returns a port on which nothing listens.
    package static func freePort() throws -> Int {
        let (socket, port) = try listening()
        socket.end()
        return port
    }

    /// Returns true where a server listens on a port.
    package static func connects(to port: Int) -> Bool {
        guard let socket = try? LoopbackSocket(connectedTo: port) else { return false }
        socket.end()
        return true
    }

    package init(connectedTo port: Int) throws {
        self = try LoopbackSocket()
        var address = Self.address(port)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            end()
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    /// Waits for the next connection; nil once the socket is shut down.
    package func accepted() -> LoopbackSocket? {
        let next = accept(descriptor, nil, nil)
        guard next >= 0 else { return nil }
        _ = fcntl(next, F_SETFD, FD_CLOEXEC)
        return LoopbackSocket(descriptor: next)
    }

    /// Waits for bytes; none at the end.
    package func receive() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    package func sendAll(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Ends what waits for the socket.
    package func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    package func end() { close(descriptor) }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    private init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return address
    }
}
