import Foundation

/// Standard output does not take what is written.
enum OutputError: Error, CustomStringConvertible {
    /// Nobody reads it any more: whoever has read enough ends a command so.
    case unread
    /// The system refuses it, with this error number.
    case refused(Int32)

    /// - Parameter code: an error of write(2).
    init(_ code: Int32) { self = code == EPIPE ? .unread : .refused(code) }

    var description: String {
        switch self {
        case .unread: "the output was closed"
        case .refused(let code): "standard output cannot be written: \(String(cString: strerror(code)))"
        }
    }
}
