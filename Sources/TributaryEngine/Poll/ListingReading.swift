import FeedStores

/// The reading of a folder whose files have validators of their own: of all of them, or of those that have changed.
///
/// An unchanged document is left out only if no two documents have a row with one key. The order of the documents then decides
/// nothing, and its rows are those that the store has.
struct ListingReading: Sendable {
    /// Digests of the documents' names and versions, in the order of reading.
    private let versions: [UInt64]
    /// The positions of the documents to read; nil for all.
    let positions: [Int]?
    /// The documents that are left out, and those read so far, with their keys; nil if the next run is to read all.
    private(set) var documents: ListedDocuments?
    private var count = 0

    /// A reading that keeps nothing for the next run.
    static let ofAll = ListingReading()

    private init() { (versions, positions) = ([], nil) }

    /// - Parameter former: the documents whose rows the store has; nil if unknown.
    init(_ versions: [UInt64], after former: ListedDocuments? = nil) {
        self.versions = versions
        var kept = ListedDocuments()
        var known: Set<UInt64> = []
        let present = Set(versions)
        former?.forEach { version, keys in
            guard present.contains(version) else { return }
            kept.append(version, keys: keys)
            known.insert(version)
        }
        documents = kept
        positions = known.isEmpty ? nil : versions.indices.filter { !known.contains(versions[$0]) }
    }

    var notesKeys: Bool { documents != nil }

    /// Notes a document that has been read.
    ///
    /// - Parameter keys: hashes of the keys of its rows; nil if unknown.
    mutating func note(_ keys: Set<UInt64>?) {
        let position = positions.map { $0.indices.contains(count) ? $0[count] : -1 } ?? count
        count += 1
        if let keys, versions.indices.contains(position) {
            documents?.append(versions[position], keys: keys)
        } else {
            documents = nil
        }
        if documents?.count ?? 0 > ListedDocuments.most { documents = nil }
    }

    /// Ends the reading.
    ///
    /// - Returns: false if the documents that were left out must be read, too.
    mutating func end() -> Bool {
        if count != positions?.count ?? versions.count || documents?.shareKeys == true { documents = nil }
        return positions == nil || documents != nil
    }

    /// The remark of the run's report; nil if all documents were read.
    var note: String? { positions.map { "read \($0.count) of \(versions.count) documents" } }
}
