/// The mark at the start of a document that gives its encoding (RFC 7303, section 3.3).
enum ByteOrderMark {
    case utf8, utf16LittleEndian, utf16BigEndian, utf32LittleEndian, utf32BigEndian

    init?(_ bytes: some Collection<UInt8>) {
        let start = Array(bytes.prefix(4))
        switch start {
        case [0xFF, 0xFE, 0x00, 0x00]: self = .utf32LittleEndian
        case [0x00, 0x00, 0xFE, 0xFF]: self = .utf32BigEndian
        default:
            if start.starts(with: [0xEF, 0xBB, 0xBF]) {
                self = .utf8
            } else if start.starts(with: [0xFF, 0xFE]) {
                self = .utf16LittleEndian
            } else if start.starts(with: [0xFE, 0xFF]) {
                self = .utf16BigEndian
            } else {
                return nil
            }
        }
    }
}
