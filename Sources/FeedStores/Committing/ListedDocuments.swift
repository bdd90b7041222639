import Foundation

/// The documents of the last listing that a request has read: their versions, and hashes of the keys of their rows.
package struct ListedDocuments: Sendable, Equatable {
    /// The most versions and keys together: 8 MiB. Of more, nothing is kept, and all documents are read.
    package static let most = 1 << 20

    /// For each document: its version, the number of its keys, and these.
    private var words: [UInt64] = []

    package init() {}

    package var count: Int { words.count }

    package mutating func append(_ version: UInt64, keys: some Collection<UInt64>) {
        words.append(version)
        words.append(UInt64(keys.count))
        words.append(contentsOf: keys)
    }

    /// Calls `body` with each document.
    package func forEach(_ body: (_ version: UInt64, _ keys: ArraySlice<UInt64>) -> Void) {
        var index = 0
        while index < words.count {
            let end = index + 2 + Int(words[index + 1])
            body(words[index], words[index + 2..<end])
            index = end
        }
    }

    /// True if two documents may have rows with one key.
    package var shareKeys: Bool {
        var keys: [UInt64] = []
        keys.reserveCapacity(count)
        forEach { keys += $1 }
        keys.sort()
        return zip(keys, keys.dropFirst()).contains { $0 == $1 }
    }

    /// The documents as base 64, for a column.
    var text: String {
        get { words.map(\.littleEndian).withUnsafeBytes { Data($0) }.base64EncodedString() }
        set {
            words = []
            guard let data = Data(base64Encoded: newValue), data.count % 8 == 0 else { return }
            let read = data.withUnsafeBytes { bytes in
                (0..<data.count / 8).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self).littleEndian }
            }
            var index = 0
            while index + 1 < read.count {
                guard let count = Int(exactly: read[index + 1]), count <= read.count - index - 2 else { return }
                index += 2 + count
            }
            if index == read.count { words = read }
        }
    }
}

/// A row of `tributary_listing`.
package struct ListingRow: Sendable {
    package var source: String
    package var key: String
    /// The validator of the listing. The documents are those of the request's rows while the request has the same.
    package var version: String
    package var documents: ListedDocuments

    package init(source: String, key: String, version: String, documents: ListedDocuments) {
        self.source = source
        self.key = key
        self.version = version
        self.documents = documents
    }
}
