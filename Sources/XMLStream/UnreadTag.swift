/// Counts the attributes of a start tag before it is complete. libxml2's work for one element grows with the square
/// of their number and cannot be interrupted.
struct UnreadTag {
    private var position = 0
    private var quote: UInt8?
    /// The number of attribute values that have begun.
    private(set) var attributes = 0

    /// - Parameter bytes: the tag from its first byte, at least as much of it as in the last call.
    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) {
        while position < bytes.count {
            let byte = bytes[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
                attributes += 1
            }
            position += 1
        }
    }
}
