/// The effect of an encoding on the bytes of ASCII, as far as the beginning of a document shows it.
enum XMLEncodingName {
    case utf8
    /// A byte of ASCII markup is that markup wherever it occurs.
    case asciiCompatible
    case other

    /// The longest XML declaration that is looked at.
    private static let longestDeclaration = 1024

    /// - Parameters:
    ///   - start: the first bytes of the document.
    ///   - isWhole: true if no more bytes follow.
    ///   - charset: the encoding that the transport declares. It counts more than the document's own declaration.
    /// - Returns: nil if more bytes must come.
    static func find(in start: [UInt8], isWhole: Bool, charset: String?) -> XMLEncodingName? {
        guard start.count >= 4 || isWhole else { return nil }
        switch ByteOrderMark(start) {
        case .utf8: return .utf8
        case nil: break
        default: return .other
        }
        // UTF-16 and UTF-32 without a mark.
        let open = UInt8(ascii: "<")
        if [[0, open], [open, 0], [0, 0, 0, open]].contains(where: { start.starts(with: $0) }) { return .other }
        if let charset { return kind(charset) }
        let opening = Array("<?xml".utf8)
        guard start.starts(with: opening) || opening.starts(with: start) && !isWhole else { return .utf8 }
        guard let end = start.firstIndex(of: UInt8(ascii: ">")) else {
            return isWhole || start.count > longestDeclaration ? .other : nil
        }
        let declaration = String(decoding: start[..<end], as: UTF8.self)
        guard let found = declaration.firstMatch(of: /encoding\s*=\s*["']([A-Za-z0-9._\-]+)["']/) else { return .utf8 }
        return kind(String(found.1))
    }

    /// Encodings with shifts, such as ISO-2022-JP and UTF-7, have bytes of ASCII in other characters.
    private static func kind(_ name: String) -> XMLEncodingName {
        let name = name.lowercased()
        if ["utf-8", "utf8"].contains(name) { return .utf8 }
        let families = [
            "us-ascii", "ascii", "iso-8859-", "iso8859-", "iso_8859-", "latin", "windows-", "cp125", "koi8-",
            "macintosh",
            "gb2312", "gbk", "gb18030", "big5", "euc-", "shift_jis", "shift-jis", "sjis", "tis-620",
        ]
        return families.contains { name.hasPrefix($0) } ? .asciiCompatible : .other
    }
}
