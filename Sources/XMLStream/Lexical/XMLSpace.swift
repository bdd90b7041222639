/// White space as XML 1.0 defines it (section 2.3, production 3).
@inline(__always)
package func isXMLSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}

/// Returns the bytes without white space at either end.
@inline(__always)
package func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var start = 0
    var end = bytes.count
    while start < end, isXMLSpace(bytes[start]) { start += 1 }
    while end > start, isXMLSpace(bytes[end - 1]) { end -= 1 }
    return UnsafeBufferPointer(rebasing: bytes[start..<end])
}
