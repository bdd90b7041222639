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

    init(depth: Int) { self.depth = depth }

    /// The authors, in the order in which they are named.
    var author: String? { authors.isEmpty ? nil : authors.joined(separator: ", ") }
}
