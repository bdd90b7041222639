/// An open element: where its text and its attributes begin in the parser's stacks.
struct XMLFrame {
    let name: Int32
    let textStart: Int
    let attributes: Range<Int>
    /// The number of the element in the document.
    let element: Int
    let attributeValuesStart: Int
    /// Namespaces that it declares.
    let namespaces: Int
    /// Whether its own text is known to be more than white space.
    var hasText = false
}

/// An attribute of an open element: its name, and where its value lies.
struct XMLAttributeRecord {
    let name: Int32
    let value: Range<Int>
}
