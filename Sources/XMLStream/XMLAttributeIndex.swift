/// The positions of one element's attributes by their names as written, for callers that look up many of them.
struct XMLAttributeIndex: ~Copyable {
    /// The fewest attributes for which the index is used. Elements with fewer are searched in order.
    static let fewest = 8

    /// The element that is indexed.
    private var element = -1
    /// By a name's number: the place of that attribute, and the element for which it was noted.
    private var places: [(element: Int, attribute: Int)] = []
    /// The numbers of names by their written form; more than one where prefixes stand for several namespaces.
    private var numbers: [String: [Int32]] = [:]
    private var known: Int32 = 0

    /// Returns the first of an element's attributes with this name.
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
        // From the last to the first: of two attributes with one name, the first counts.
        for index in attributes.range.reversed() {
            places[Int(stream.attribute(index).name)] = (element, index)
        }
    }
}
