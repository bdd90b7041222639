/// The names of one document, found by the addresses under which libxml2's dictionary interns their parts.
struct XMLNameTable: ~Copyable {
    typealias Address = UnsafePointer<UInt8>

    private struct Slot {
        var local: Address?
        var prefix: Address?
        var namespace: Address?
        var index: Int32 = 0
    }

    private var slots = [Slot](repeating: Slot(), count: 64)
    private var namespaces: [Address: String] = [:]
    private var names = FlatArray<XMLName>(capacity: 64)

    var count: Int { names.count }

    subscript(index: Int32) -> XMLName { names[Int(index)] }

    @inline(__always)
    func qualified(_ index: Int32) -> String { names[Int(index)].qualified }

    @inline(__always)
    func local(_ index: Int32) -> String { names[Int(index)].local }

    @inline(__always)
    func namespace(_ index: Int32) -> String? { names[Int(index)].namespace }

    /// Returns the name's index. The name is created the first time.
    ///
    /// - Parameter isWritten: true if the prefix is none, but the name in a document that is not XML.
    mutating func index(local: Address, prefix: Address?, namespace: Address?, isWritten: Bool = false) -> Int32 {
        var position = hash(local, prefix, namespace) & (slots.count - 1)
        while let found = slots[position].local {
            if found == local, slots[position].prefix == prefix, slots[position].namespace == namespace {
                return slots[position].index
            }
            position = (position + 1) & (slots.count - 1)
        }
        let name = String(cString: local)
        let index = Int32(names.count)
        names.append(
            isWritten
                ? XMLName(qualified: name, local: name, namespace: nil, written: prefix.map { String(cString: $0) })
                : XMLName(
                    qualified: prefix.map { String(cString: $0) + ":" + name } ?? name, local: name,
                    namespace: namespace.map { namespaceText($0) }))
        slots[position] = Slot(local: local, prefix: prefix, namespace: namespace, index: index)
        if names.count * 2 > slots.count { rehash() }
        return index
    }

    /// Returns the string that all names of a namespace share: it may be long, and the names may be many.
    private mutating func namespaceText(_ address: Address) -> String {
        if let known = namespaces[address] { return known }
        let text = String(cString: address)
        namespaces[address] = text
        return text
    }

    private func hash(_ local: Address, _ prefix: Address?, _ namespace: Address?) -> Int {
        // A hostile document may have many names that differ only in their namespace.
        let bits = UInt(bitPattern: local) &+ UInt(bitPattern: prefix) &* 31 &+ UInt(bitPattern: namespace) &* 127
        // Neighbouring addresses would fill neighbouring slots, and later names would be found only behind many others.
        return Int(truncatingIfNeeded: (UInt64(bits) &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }

    private mutating func rehash() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: old.count * 2)
        for slot in old {
            guard let local = slot.local else { continue }
            var position = hash(local, slot.prefix, slot.namespace) & (slots.count - 1)
            while slots[position].local != nil { position = (position + 1) & (slots.count - 1) }
            slots[position] = slot
        }
    }
}
