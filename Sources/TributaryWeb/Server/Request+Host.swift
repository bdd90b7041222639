import FeedDeclarations
import Hummingbird

extension Request {
    /// True where it is sent to an address or to `localhost`, with a port or without: to no name of somebody else's that
    /// leads here (DNS rebinding).
    var namesThisMachine: Bool {
        guard let host = head.authority?.lowercased().wholeMatch(of: /(\[[0-9a-f:.]+\]|[a-z0-9.]+)(:[0-9]+)?/)?.1 else {
            return false
        }
        return host == "localhost" || IPAddress(host: String(host)) != nil
    }
}
