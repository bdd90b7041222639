import CZlib

/// ZIP archives as others write them.
package enum Zip {
    package struct File {
        var name: String
        var content: String
        var isDeflated = true
        /// Whether checksum and sizes come behind the data, as from a program that writes to a pipe.
        var hasDescriptor = false

        package init(name: String, content: String, isDeflated: Bool = true, hasDescriptor: Bool = false) {
            (self.name, self.content) = (name, content)
            (self.isDeflated, self.hasDescriptor) = (isDeflated, hasDescriptor)
        }
    }

    package static func archive(_ files: [File]) -> [UInt8] {
        var archive: [UInt8] = []
        var directory: [UInt8] = []
        for file in files {
            let offset = archive.count
            let content = Array(file.content.utf8)
            let data = file.isDeflated ? Array(Gzip.compressed(file.content).dropFirst(10).dropLast(8)) : content
            let sum = number(Int(crc32(0, content, UInt32(content.count))), 4)
            let facts = sum + number(data.count, 4) + number(content.count, 4)
            let header =
                number(20, 2) + number(file.hasDescriptor ? 8 : 0, 2) + number(file.isDeflated ? 8 : 0, 2)
                + number(0, 4) + (file.hasDescriptor ? number(0, 12) : facts) + number(file.name.utf8.count, 2)
            archive += [0x50, 0x4B, 3, 4] + header + number(0, 2) + file.name.utf8 + data
            if file.hasDescriptor { archive += [0x50, 0x4B, 7, 8] + facts }
            directory += [0x50, 0x4B, 1, 2] + number(20, 2) + header.prefix(10) + facts
            directory += number(file.name.utf8.count, 2) + number(0, 12) + number(offset, 4) + Array(file.name.utf8)
        }
        let end = number(0, 4) + number(files.count, 2) + number(files.count, 2) + number(directory.count, 4)
        return archive + directory + [0x50, 0x4B, 5, 6] + end + number(archive.count, 4) + number(0, 2)
    }

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * $0)) : 0 }
    }
}
