import FeedModel
import FeedStaging
import Foundation

/// Bytes that are appended, and then read at any offset. The last ones are in memory, the others in a file once they are many.
final class PagedFile {
    /// The most bytes that are not in the file.
    private static let memoryLimit = 512 << 10
    private static let pageSize = 4 << 10
    private static let pageCount = 128

    private let folder: String
    private var file: FileHandle?
    /// The number of bytes in the file.
    private var written = 0
    private var tail: [UInt8] = []
    /// Pages of the file, each in the slot of its number modulo ``pageCount``.
    private let pages = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize * pageCount, alignment: 16)
    private var numbers = [Int](repeating: -1, count: pageCount)
    /// Bytes that lie in more than one page.
    private var joined: [UInt8] = []

    private(set) var count = 0

    /// - Parameter folder: the folder of the file.
    init(folder: String) { self.folder = folder }

    deinit {
        pages.deallocate()
        try? file?.close()
    }

    /// - Throws: ``StoreError`` if the disk is full.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        tail.append(contentsOf: bytes)
        count += bytes.count
        guard tail.count >= Self.memoryLimit else { return }
        do {
            let file = try self.file ?? UnnamedFile.make(in: folder)
            self.file = file
            try file.write(contentsOf: tail)
        } catch {
            throw unavailable(error.localizedDescription)
        }
        written += tail.count
        tail.removeAll(keepingCapacity: true)
    }

    /// Passes the bytes of a range to `body`. They are valid only inside `body`.
    ///
    /// - Precondition: the range lies within the bytes that have been appended.
    func read<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        if range.lowerBound >= written {
            return try tail.withUnsafeBytes { bytes in
                try body(
                    UnsafeRawBufferPointer(
                        rebasing: bytes[(range.lowerBound - written)..<(range.upperBound - written)]))
            }
        }
        let (page, start) = range.lowerBound.quotientAndRemainder(dividingBy: Self.pageSize)
        if start + range.count <= Self.pageSize, range.upperBound <= written {
            let bytes = try self.page(page)
            return try body(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + range.count)]))
        }
        joined.removeAll(keepingCapacity: joined.capacity <= 64 << 10)
        var offset = range.lowerBound
        while offset < range.upperBound {
            if offset >= written {
                joined += tail[(offset - written)..<(range.upperBound - written)]
                break
            }
            let (page, start) = offset.quotientAndRemainder(dividingBy: Self.pageSize)
            let end = min(start + range.upperBound - offset, Self.pageSize, start + written - offset)
            joined += try self.page(page)[start..<end]
            offset += end - start
        }
        return try joined.withUnsafeBytes(body)
    }

    /// Returns a page of the file, which is valid until the next call. The last one may end before its end.
    private func page(_ number: Int) throws -> UnsafeRawBufferPointer {
        let slot = number % Self.pageCount
        let bytes = UnsafeMutableRawBufferPointer(
            rebasing: pages[(slot * Self.pageSize)..<((slot + 1) * Self.pageSize)])
        guard numbers[slot] != number, let file else { return UnsafeRawBufferPointer(bytes) }
        numbers[slot] = -1
        let wanted = min(Self.pageSize, written - number * Self.pageSize)
        var filled = 0
        while filled < wanted {
            let part = pread(
                file.fileDescriptor, bytes.baseAddress.map { $0 + filled }, wanted - filled,
                off_t(number * Self.pageSize + filled))
            guard part > 0 else { throw unavailable(String(cString: strerror(part < 0 ? errno : EIO))) }
            filled += part
        }
        // A page that is not full is read again once the file has grown.
        if wanted == Self.pageSize { numbers[slot] = number }
        return UnsafeRawBufferPointer(bytes)
    }

    private func unavailable(_ reason: String) -> StoreError {
        StoreError(.unavailable, "the texts of a workbook cannot be kept in \(folder): \(reason)")
    }
}
