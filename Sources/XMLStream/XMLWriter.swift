/// Writes XML as bytes: tags, attributes and escaped text. It checks only properties that the caller cannot see.
package struct XMLWriter {
    package var bytes: [UInt8] = []
    private var isTagOpen = false
    /// The number of open elements.
    package private(set) var depth = 0

    package init() {}

    package mutating func start(_ name: String) {
        closeTag()
        depth += 1
        bytes.append(UInt8(ascii: "<"))
        bytes.append(contentsOf: name.utf8)
        isTagOpen = true
    }

    package mutating func attribute(_ name: String, _ value: some Sequence<UInt8>) {
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: "=\"".utf8)
        for byte in value {
            switch byte {
            case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
            case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
            case UInt8(ascii: "\""): bytes.append(contentsOf: "&quot;".utf8)
            // A parser would read white space in attributes as spaces (XML 1.0, section 3.3.3).
            case 0x09: bytes.append(contentsOf: "&#9;".utf8)
            case 0x0A: bytes.append(contentsOf: "&#10;".utf8)
            case 0x0D: bytes.append(contentsOf: "&#13;".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    package mutating func text(_ value: some Sequence<UInt8>) {
        var value = value.makeIterator()
        guard let first = value.next() else { return }
        closeTag()
        escape(first)
        while let byte = value.next() { escape(byte) }
    }

    /// Escapes `>` too, so that `]]>` cannot arise (XML 1.0, section 2.4).
    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
        case UInt8(ascii: ">"): bytes.append(contentsOf: "&gt;".utf8)
        case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
        case 0x0D: bytes.append(contentsOf: "&#13;".utf8)
        default: bytes.append(byte)
        }
    }

    /// Writes markup unescaped.
    package mutating func markup(_ value: some Sequence<UInt8>) {
        closeTag()
        bytes.append(contentsOf: value)
    }

    package mutating func end(_ name: String) {
        depth -= 1
        if isTagOpen {
            bytes.append(contentsOf: "/>".utf8)
            isTagOpen = false
        } else {
            bytes.append(contentsOf: "</".utf8)
            bytes.append(contentsOf: name.utf8)
            bytes.append(UInt8(ascii: ">"))
        }
    }

    /// Returns the bytes written so far, and clears them.
    package mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    private mutating func closeTag() {
        guard isTagOpen else { return }
        bytes.append(UInt8(ascii: ">"))
        isTagOpen = false
    }
}
