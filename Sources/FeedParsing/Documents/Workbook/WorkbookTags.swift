import XMLStream

/// A part of a workbook that cannot be read, and the reason.
struct WorkbookProblem: Error, CustomStringConvertible {
    var description: String
}

/// The elements of a workbook's parts that are read, by their local names: the namespaces of the transitional and of the
/// strict form differ.
enum WorkbookTag: String {
    case sheetData, dimension, row, c, v, `is`, si, t, rPh
    case other
}

/// The elements' tags by the numbers of their names.
struct WorkbookTags {
    private var tags: [WorkbookTag?] = []

    @inline(__always)
    mutating func tag(of stream: XMLStreamParser) -> WorkbookTag {
        let number = Int(stream.nameIndex)
        if number < tags.count, let tag = tags[number] { return tag }
        return note(number, stream.localName)
    }

    private mutating func note(_ number: Int, _ name: String) -> WorkbookTag {
        while tags.count <= number { tags.append(nil) }
        let tag = WorkbookTag(rawValue: name) ?? .other
        tags[number] = tag
        return tag
    }
}
