import FeedConfiguration

/// An element of an exported document: its name, and the fields of a row that are in it.
final class ExportElement {
    let name: String
    /// Attributes that a predicate of the mapping requires.
    let fixed: [(name: String, value: String)]
    var attributes: [(name: String, field: ExportField)] = []
    var text: ExportField?
    /// The element's original markup, in place of the element.
    var markup: ExportField?
    /// The field of the element's text, where the text was joined from several elements.
    var joined: ExportField? { text?.column.repetition == .join ? text : nil }
    var children: [ExportElement] = []

    init(_ name: String, fixed: [(name: String, value: String)] = []) {
        self.name = name
        self.fixed = fixed
    }

    /// The fields of the element and of all elements below it.
    var fields: [ExportField] {
        attributes.map(\.field) + [text, markup].compactMap(\.self) + children.flatMap(\.fields)
    }

    /// The number of elements from this one to its deepest descendant.
    var height: Int { 1 + (children.map(\.height).max() ?? 0) }

    /// Gives the fields of the element and of all elements below it their positions among a row's values, from `next`
    /// on.
    func numberFields(_ next: inout Int) {
        for index in attributes.indices {
            attributes[index].field.index = next
            next += 1
        }
        for field in [\ExportElement.text, \.markup] where self[keyPath: field] != nil {
            self[keyPath: field]?.index = next
            next += 1
        }
        for child in children { child.numberFields(&next) }
    }

    /// Returns the child with this name and these attributes. Creates it where there is none.
    func child(_ name: String, fixed: [(name: String, value: String)]) -> ExportElement {
        if let known = children.first(where: { $0.name == name && $0.fixed.elementsEqual(fixed, by: ==) }) {
            return known
        }
        let new = ExportElement(name, fixed: fixed)
        children.append(new)
        return new
    }
}
