/// Where the attributes of one element are, by their names as written: for whoever asks for many of them.
struct XMLAttributeIndex: ~Copyable {
    /// Elements with fewer attributes are looked through.
    static let fewest = 8

    /// The element that is indexed.
    private var element = -1
    /// By a name's number: where the element has that attribute, and the element for which that was noted.
    private var places: [(element: Int, attribute: Int)] = []
    /// The numbers of names by how they are written; more than one where prefixes stand for several namespaces.
    private var numbers: [String: [Int32]] = [:]
    private var known: Int32 = 0

    /// The first of an element's attributes with this name.
    mutating func attribute(_ name: String, of attributes: XMLAttributes) -> Int? {
        if attributes.element != element { index(attributes) }
        guard let numbers = numbers[name] else { return nil }
        var first: Int?
        for number in numbers {
            let place = places[Int(number)]
            if place.element == element, place.attribute < first ?? .max { first = place.attribute }
        }
        return first
    }

    private mutating func index(_ attributes: XMLAttributes) {
        element = attributes.element
        let stream = attributes.stream
        while known < stream.names.count {
            numbers[stream.names.qualified(known), default: []].append(known)
            places.append((-1, 0))
            known += 1
        }
        // From the last to the first: of two with one name, the first counts.
        for index in attributes.range.reversed() {
            places[Int(stream.attribute(index).name)] = (element, index)
        }
    }
}
