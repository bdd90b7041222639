import Foundation

/// The data of a feed or an entry that has been read so far.
struct RecordDraft {
    /// The depth of the record's element. The elements that describe it are one deeper.
    var depth: Int
    var id = RankedText()
    var title = RankedText()
    var link = RankedText()
    var description = RankedText()
    /// The element that gave the description, if it is one of the feed's own.
    var descriptionElement: String?
    var content = RankedText()
    var language = RankedText()
    var image = RankedText()
    var authors: [String] = []
    var authorRank = Int.max
    var published: (date: Date, rank: Int)?
    var updated: (date: Date, rank: Int)?
    var duration: Int?
    var enclosures: [Enclosure] = []
    var categories: [Category] = []

    /// The authors, in the order in which they are named.
    var author: String? { authors.isEmpty ? nil : authors.joined(separator: ", ") }
}

/// A text that several elements may give, in several vocabularies. The best of them counts.
struct RankedText {
    private(set) var text: String?
    /// The base of the text, where it is a relative address.
    private var base: String?
    private var rank = Int.max

    /// Returns true if a text would replace the present one.
    ///
    /// - Parameters:
    ///   - rank: 0 for the feed's own elements, more for those used where it has none.
    ///   - keepsFirst: true if the first of two texts with the same rank counts.
    func takes(_ new: String, rank: Int, keepsFirst: Bool) -> Bool {
        guard text != nil else { return true }
        return !new.isEmpty && (rank < self.rank || rank == self.rank && !keepsFirst)
    }

    /// The text as an address. It is resolved only when asked for, since most addresses are only repeated.
    var address: String? { text.map { URIReference.resolve($0, against: base) } }

    mutating func set(_ new: String, rank: Int, base: String? = nil) {
        text = new
        self.base = base
        // An empty text gives nothing, so any other text replaces it.
        self.rank = new.isEmpty ? .max : rank
    }
}
