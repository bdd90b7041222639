/// Converts an HTML page to UTF-8 while it arrives. The encoding is the one that the byte order mark shows, else the
/// `charset` of the transport, else the one that the page's first 1,024 bytes declare. Names that are unknown do not count.
///
/// Without any, the first character outside ASCII decides: if it is valid UTF-8, the page is in UTF-8, and in
/// windows-1252 otherwise. Invalid bytes become U+FFFD, the replacement character (HTML Living Standard, section 13.2.3).
struct HTMLDecoder {
    /// The encoding that the transport declares; nil for none that is known.
    private let declared: String?
    private var decoder: TextDecoder?
    /// The bytes that do not show the encoding yet.
    private var undecided: [UInt8] = []
    /// True if nothing declares the encoding.
    private var isUndeclared = false

    /// The bytes in which a page must declare its encoding.
    static let declarationLength = 1_024

    init(charset: String?) { declared = charset.flatMap(Self.encoding) }

    /// True if the page has no byte so far.
    var isEmpty: Bool { decoder == nil && !isUndeclared && undecided.isEmpty }

    mutating func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ take: (UnsafeBufferPointer<UInt8>) throws -> Void)
        throws
    {
        if let decoder { return try decoder.decode(bytes, take) }
        undecided.append(contentsOf: bytes)
        try decide(isWhole: false, take)
    }

    mutating func finish(_ take: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        try decide(isWhole: true, take)
        try decoder?.finish(take)
    }

    private mutating func decide(isWhole: Bool, _ take: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        guard decoder == nil else { return }
        if !isUndeclared {
            guard isWhole || undecided.count >= (declared == nil ? Self.declarationLength : 4) else { return }
            let declared = declared ?? Self.declared(in: undecided.prefix(Self.declarationLength))
            guard declared == nil, ByteOrderMark(undecided) == nil else { return try begin(declared, take) }
            isUndeclared = true
        }
        let bytes = undecided
        try bytes.withUnsafeBufferPointer { bytes in
            let ascii = bytes.firstIndex { $0 >= 0x80 } ?? bytes.count
            if ascii > 0 { try take(UnsafeBufferPointer(rebasing: bytes[..<ascii])) }
            undecided = Array(bytes[ascii...])
            guard !undecided.isEmpty, isWhole || undecided.count >= 4 else { return }
            let isUTF8 = undecided.withUnsafeBufferPointer { TextDecoder.validLength($0).length > 0 }
            try begin(isUTF8 ? "UTF-8" : "windows-1252", take)
        }
    }

    private mutating func begin(_ encoding: String?, _ take: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        let start = undecided
        undecided = []
        try start.withUnsafeBufferPointer { start in
            let (decoder, markLength) = try TextDecoder.make(encoding: encoding, start: start, replacesInvalid: true)
            self.decoder = decoder
            try decoder.decode(UnsafeBufferPointer(rebasing: start[markLength...]), take)
        }
    }

    // MARK: - Names

    /// Returns the encoding that a page declares by `<meta charset>`, by `<meta http-equiv>` or as XML.
    private static func declared(in start: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: start, as: UTF8.self).replacing(/<!--(?s:.*?)-->/, with: "")
        let xml = text.prefixMatch(of: /<\?xml\s[^>]*?encoding\s*=\s*["']([^"']+)["']/)?.1
        let metas = text.matches(of: /(?i)<meta[\s\/][^>]*?charset\s*=\s*["']?\s*([^\s"'\/>;]+)/).map(\.1)
        let found = (metas + (xml.map { [$0] } ?? [])).lazy.compactMap { encoding(String($0)) }.first
        // What could be read as ASCII is not in UTF-16.
        return found.map { $0.lowercased().hasPrefix("utf-16") ? "UTF-8" : $0 }
    }

    /// Returns the encoding that iconv knows for a name, as pages mean it (Encoding Standard, section 4.2); nil for an
    /// unknown name.
    private static func encoding(_ label: String) -> String? {
        let label = label.lowercased()
        let name = meant.first { $0.labels.contains(label) }?.encoding ?? label
        return TextDecoder.knows(name) ? name : nil
    }

    /// Names that stand for a larger encoding than their own.
    private static let meant: [(encoding: String, labels: Set<String>)] = [
        ("windows-1252", ["iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "us-ascii", "ascii", "x-cp1252"]),
        ("windows-1254", ["iso-8859-9", "iso8859-9", "iso_8859-9", "latin5", "l5", "x-cp1254"]),
        ("windows-874", ["iso-8859-11", "tis-620", "dos-874"]),
        ("windows-1250", ["x-cp1250"]), ("windows-1251", ["x-cp1251"]),
        ("GB18030", ["gb2312", "gbk", "x-gbk", "gb_2312-80", "chinese", "csgb2312"]),
        ("BIG5-HKSCS", ["big5", "big5-hkscs", "cn-big5", "x-x-big5"]),
        ("CP932", ["shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "ms_kanji"]),
        ("CP949", ["euc-kr", "ks_c_5601-1987", "ksc5601", "korean", "windows-949"]),
        ("EUC-JP", ["x-euc-jp"]), ("MACINTOSH", ["mac", "x-mac-roman"]), ("UTF-8", ["unicode-1-1-utf-8", "utf8"]),
    ]
}
