import Foundation
import Locking

/// The sockets of a connection to a file server, from their opening to their closing.
final class OpenSockets: Sendable {
    private let descriptors = Mutex<Set<Int32>>([])

    func note(_ descriptor: Int32) { descriptors.withLock { _ = $0.insert(descriptor) } }

    /// Closes a socket that is noted.
    func close(_ descriptor: Int32) {
        descriptors.withLock { descriptors in
            descriptors.remove(descriptor)
            // Within the lock: another thread may get a socket of the same number at once.
            _ = Foundation.close(descriptor)
        }
    }

    /// Breaks the connections off: what waits for the server goes on at once.
    func shutDown() {
        descriptors.withLock { descriptors in
            for descriptor in descriptors { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
