/// Where a value lies in a tree: an element, or an attribute of it.
struct ElementPlace {
    var node: Int32
    var attribute: Int32 = ElementTree.none

    static let missing = ElementPlace(node: ElementTree.none)

    @inline(__always) var exists: Bool { node != ElementTree.none }
    @inline(__always) var isAttribute: Bool { attribute != ElementTree.none }
}
