/// Objects by the numbers of names in the document, looked up for every element without reference counts.
///
/// The first few are searched one by one, which is faster than a dictionary. Public, because the functions of a package's
/// own level are not inlined in other modules.
@frozen public struct NumberedObjects<Object: AnyObject>: ~Copyable {
    @usableFromInline var all: [Object] = []
    @usableFromInline var few = FlatArray<(number: Int32, object: Unmanaged<Object>)>(capacity: 8)
    @usableFromInline var more: [Int32: Unmanaged<Object>] = [:]

    @inlinable
    public init() {}

    @inlinable @inline(__always)
    public subscript(number: Int32) -> Unmanaged<Object>? {
        for index in 0..<few.count where few[index].number == number { return few[index].object }
        return more.isEmpty ? nil : more[number]
    }

    /// Adds the object of a number that has none.
    @inlinable
    public mutating func add(_ object: Object, number: Int32) {
        all.append(object)
        if few.count < 16 {
            few.append((number, .passUnretained(object)))
        } else {
            more[number] = .passUnretained(object)
        }
    }
}
