import XMLStream

/// The rules for writing the value of one coding key.
struct OutputField {
    let key: String
    let path: XMLPath
    var transform: XMLTransform?
    var dateFormat: DateFormat?
    /// The place in the order that its type declares. Keys that the type does not mention share one place.
    var rank = Int.max

    /// The field for values without a key: a document's root, and the elements of a list that has none.
    static let root = OutputField(key: "", path: XMLPath())

    /// The field of a dictionary's entries, or of a list's elements, that have no path of their own.
    var elements: OutputField {
        OutputField(key: key, path: XMLPath(), transform: transform, dateFormat: dateFormat, rank: rank)
    }

    func refusal(_ reason: String, value: String? = nil, in element: OutputElement) -> XMLRecordError {
        XMLRecordError(element: element.name, key: key.isEmpty ? nil : key, value: value, reason: reason)
    }
}
