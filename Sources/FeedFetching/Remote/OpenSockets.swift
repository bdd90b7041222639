import Foundation
import Locking

/// The open sockets of a connection to a file server.
final class OpenSockets: Sendable {
    private let descriptors = Mutex<Set<Int32>>([])

    func note(_ descriptor: Int32) { descriptors.withLock { _ = $0.insert(descriptor) } }

    /// Closes a noted socket.
    func close(_ descriptor: Int32) {
        descriptors.withLock { descriptors in
            descriptors.remove(descriptor)
            // Closed within the lock, because another thread may open a socket of the same number at once.
            _ = Foundation.close(descriptor)
        }
    }

    /// Shuts the connections down, so that waits for the server end at once.
    func shutDown() {
        descriptors.withLock { descriptors in
            for descriptor in descriptors { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
