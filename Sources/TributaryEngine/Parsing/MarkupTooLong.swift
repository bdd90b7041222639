import FeedModel

/// An element's content, taken as markup, is longer than its parser takes.
struct MarkupTooLong: Error, CustomStringConvertible {
    var limit: Int

    var description: String { "the element's markup is longer than \(ByteSize.text(limit))" }
}
