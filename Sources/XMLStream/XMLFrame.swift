/// An open element, with the places at which its text and attributes begin in the parser's stacks.
struct XMLFrame {
    let name: Int32
    let textStart: Int
    let attributes: Range<Int>
    /// The number of the element in the document.
    let element: Int
    let attributeValuesStart: Int
    /// The number of namespaces that it declares.
    let namespaces: Int
    /// True if its own text is known to be more than white space.
    var hasText = false
}

/// An attribute of an open element: its name and the place of its value.
struct XMLAttributeRecord {
    let name: Int32
    let value: Range<Int>
}
