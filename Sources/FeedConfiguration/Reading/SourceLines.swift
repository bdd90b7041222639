/// The lines of a document, by the offsets of their bytes.
struct SourceLines {
    let bytes: [UInt8]
    /// The offset of each line.
    private let starts: [Int]
    /// The number of scalars before each block of bytes. A document may be one line of megabytes, with a mistake in
    /// each key.
    private let scalarsBefore: [Int]

    private static let block = 4_096

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var starts = [0]
        var scalarsBefore: [Int] = []
        var scalars = 0
        for (offset, byte) in bytes.enumerated() {
            if offset % Self.block == 0 { scalarsBefore.append(scalars) }
            if byte & 0xC0 != 0x80 { scalars += 1 }
            if byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
        }
        self.starts = starts
        self.scalarsBefore = scalarsBefore
    }

    /// Returns the line with an offset, without its line break.
    func line(at offset: Int) -> Range<Int> {
        let next = starts.indices.firstSorted { starts[$0] > offset }
        let start = starts[next - 1]
        var end = next < starts.count ? starts[next] - 1 : bytes.count
        if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return start..<end
    }

    /// Returns the number of scalars within a range of bytes.
    func scalars(_ range: Range<Int>) -> Int { scalars(before: range.upperBound) - scalars(before: range.lowerBound) }

    private func scalars(before offset: Int) -> Int {
        guard !scalarsBefore.isEmpty else { return 0 }
        let block = min(offset / Self.block, scalarsBefore.count - 1)
        return scalarsBefore[block] + bytes[block * Self.block..<offset].count { $0 & 0xC0 != 0x80 }
    }
}
