import XMLStream

/// How the value of one coding key is written.
struct OutputField {
    let key: String
    let path: XMLPath
    var transform: XMLTransform?
    var dateFormat: DateFormat?
    /// Its place in the order that its type declares; the same for all that the type does not mention.
    var rank = Int.max

    /// The field of what has no key: a document's root, and the elements of a list that has none.
    static let root = OutputField(key: "", path: XMLPath())

    /// The entries of a dictionary, or the elements of a list, that have no path of their own.
    var elements: OutputField {
        OutputField(key: key, path: XMLPath(), transform: transform, dateFormat: dateFormat, rank: rank)
    }

    func refusal(_ reason: String, value: String? = nil, in element: OutputElement) -> XMLRecordError {
        XMLRecordError(element: element.name, key: key.isEmpty ? nil : key, value: value, reason: reason)
    }
}
