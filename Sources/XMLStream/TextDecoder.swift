import Foundation

/// Converts text that arrives in pieces to UTF-8. Text in UTF-8 is checked and passed on where it lies; iconv(3) converts
/// the rest.
///
/// A byte order mark counts more than the encoding that is declared. Not `Sendable`: used from one thread at a time.
package final class TextDecoder {
    /// The bytes are not in their encoding, or nothing knows the encoding.
    package struct Problem: Error, CustomStringConvertible {
        package var description: String
    }

    private let encoding: String
    /// Nil for UTF-8.
    private let converter: iconv_t?
    private let replacesInvalid: Bool
    /// The bytes of a character that is not complete yet.
    private var rest: [UInt8] = []
    private var output: [UInt8] = []

    /// - Parameters:
    ///   - encoding: the name of the encoding; nil for UTF-8.
    ///   - start: the first bytes of the text, at least four of them if there are so many.
    ///   - replacesInvalid: true to read invalid bytes as U+FFFD, the replacement character.
    package static func make(
        encoding: String?, start: UnsafeBufferPointer<UInt8>, replacesInvalid: Bool = false
    ) throws(Problem) -> (decoder: TextDecoder, markLength: Int) {
        let mark = ByteOrderMark(start)
        return (try TextDecoder(mark?.rawValue ?? encoding ?? "UTF-8", replacesInvalid), mark?.length ?? 0)
    }

    private init(_ encoding: String, _ replacesInvalid: Bool) throws(Problem) {
        self.encoding = encoding
        self.replacesInvalid = replacesInvalid
        if ["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased()) {
            converter = nil
        } else {
            guard let opened = TextDecoder.open(encoding) else {
                throw Problem(description: "the encoding '\(encoding)' is not known")
            }
            converter = opened
            output = [UInt8](repeating: 0, count: 64 << 10)
        }
    }

    deinit { if let converter { iconv_close(converter) } }

    /// Returns true for the name of an encoding that can be read.
    package static func knows(_ encoding: String) -> Bool {
        guard let converter = open(encoding) else { return false }
        iconv_close(converter)
        return true
    }

    private static func open(_ encoding: String) -> iconv_t? {
        // iconv takes further words behind a slash.
        let isName = encoding.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "-_.:".utf8.contains(byte)
            }
        }
        guard isName, !encoding.isEmpty else { return nil }
        let converter = iconv_open("UTF-8", encoding)
        return converter == iconv_t(bitPattern: -1) ? nil : converter
    }

    /// Passes the text of the next bytes to `take`, in pieces that end with a whole character.
    package func decode(
        _ bytes: UnsafeBufferPointer<UInt8>, _ take: (UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        if rest.isEmpty {
            let read = try convert(bytes, take)
            rest.append(contentsOf: bytes[read...])
        } else {
            let whole = rest + bytes
            let read = try whole.withUnsafeBufferPointer { try convert($0, take) }
            rest = Array(whole[read...])
        }
    }

    /// Passes the letter to `take` that iconv still holds where a mark may follow it, as in windows-1258.
    ///
    /// - Throws: ``Problem`` if the text ends within a character; also the errors of `take`.
    package func finish(_ take: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        if !rest.isEmpty { try replace(take) }
        guard let converter else { return }
        let (code, written) = output.withUnsafeMutableBytes { buffer in
            var target = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            var room = buffer.count
            return (iconv(converter, nil, nil, &target, &room), buffer.count - room)
        }
        if code == -1 { try replace(take) }
        if written > 0 {
            try output.withUnsafeBufferPointer { try take(UnsafeBufferPointer(rebasing: $0[..<written])) }
        }
    }

    /// Passes the replacement character to `take` in place of invalid bytes.
    ///
    /// - Throws: ``Problem`` if they are not replaced; also the errors of `take`.
    private func replace(_ take: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        guard replacesInvalid else { throw Problem(description: "the bytes are not valid \(encoding)") }
        try Array("\u{FFFD}".utf8).withUnsafeBufferPointer(take)
    }

    /// The bytes of the encoding's smallest unit, which are skipped where they are invalid.
    private var unit: Int {
        let name = encoding.lowercased()
        return name.hasPrefix("utf-16") || name.hasPrefix("ucs-2") ? 2 : name.hasPrefix("utf-32") ? 4 : 1
    }

    /// - Returns: the number of bytes read. Further bytes are the beginning of a character.
    private func convert(
        _ bytes: UnsafeBufferPointer<UInt8>, _ take: (UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws -> Int {
        guard let converter else {
            var read = 0
            while true {
                let rest = UnsafeBufferPointer(rebasing: bytes[read...])
                let (valid, isValid) = Self.validLength(rest)
                if valid > 0 { try take(UnsafeBufferPointer(rebasing: rest[..<valid])) }
                read += valid
                if isValid { return read }
                try replace(take)
                read += 1
            }
        }
        guard let start = bytes.baseAddress else { return 0 }
        // iconv does not write to its input.
        var input: UnsafeMutablePointer<CChar>? = UnsafeMutablePointer(
            mutating: UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self))
        var left = bytes.count
        while left > 0 {
            let (code, written) = output.withUnsafeMutableBytes { buffer in
                var target = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                var room = buffer.count
                let result = iconv(converter, &input, &left, &target, &room)
                return (result == -1 ? errno : 0, buffer.count - room)
            }
            try output.withUnsafeBufferPointer { try take(UnsafeBufferPointer(rebasing: $0[..<written])) }
            if code == EILSEQ {
                try replace(take)
                let skipped = min(unit, left)
                input = input.map { $0 + skipped }
                left -= skipped
            }
            if code == EINVAL { break }
        }
        return bytes.count - left
    }

    /// Returns the length of the longest prefix of whole characters in UTF-8 (The Unicode Standard, table 3-7), and
    /// false if the bytes after it begin no character.
    static func validLength(_ bytes: UnsafeBufferPointer<UInt8>) -> (length: Int, isValid: Bool) {
        do throws(UTF8.ValidationError) {
            return (try UTF8Span(validating: bytes.span).count, true)
        } catch {
            let isCut = error.kind == .truncatedScalar && error.byteOffsets.upperBound == bytes.count
            return (error.byteOffsets.lowerBound, isCut)
        }
    }
}

/// The mark at the start of a document that gives its encoding (RFC 7303, section 3.3).
package enum ByteOrderMark: String {
    case utf8 = "UTF-8"
    case utf16LittleEndian = "UTF-16LE"
    case utf16BigEndian = "UTF-16BE"
    case utf32LittleEndian = "UTF-32LE"
    case utf32BigEndian = "UTF-32BE"

    /// - Parameter bytes: the first bytes of the document, at least four of them if there are so many.
    package init?(_ bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(4))
        // A mark of UTF-32 begins with one of UTF-16.
        let marks: [ByteOrderMark] = [.utf32LittleEndian, .utf32BigEndian, .utf8, .utf16LittleEndian, .utf16BigEndian]
        guard let found = marks.first(where: { start.starts(with: $0.bytes) }) else { return nil }
        self = found
    }

    /// The number of its bytes.
    package var length: Int { bytes.count }

    private var bytes: [UInt8] {
        switch self {
        case .utf8: [0xEF, 0xBB, 0xBF]
        case .utf16LittleEndian: [0xFF, 0xFE]
        case .utf16BigEndian: [0xFE, 0xFF]
        case .utf32LittleEndian: [0xFF, 0xFE, 0x00, 0x00]
        case .utf32BigEndian: [0x00, 0x00, 0xFE, 0xFF]
        }
    }
}
