import XMLStream

/// The captures of the attributes of elements at one path. They are found by the numbers of the attributes' names, so
/// that the attributes of an element are read once, however many columns look for one.
final class AttributeCaptures {
    /// The fewest captures for which this is used. Fewer are looked up one by one.
    static let fewest = 4

    let captures: [PathNode.Capture]
    /// The first capture that takes an attribute, by the number of the attribute's name; or `none`, or `unknown`.
    @exclusivity(unchecked) private var first: [Int32] = []
    /// The further captures that take the same attribute, by the number of its name.
    @exclusivity(unchecked) private var others: [Int32: [Int32]] = [:]
    /// The last element from which each capture took an attribute. A capture takes only the first that matches its
    /// name.
    @exclusivity(unchecked) private var taken: [Int]
    @exclusivity(unchecked) private var element = 0

    private static let unknown: Int32 = -1
    private static let none: Int32 = -2

    init(_ captures: [PathNode.Capture]) {
        self.captures = captures
        taken = Array(repeating: 0, count: captures.count)
    }

    /// Passes each attribute to the captures that take it.
    func take(_ attributes: XMLAttributes, _ deliver: (UnsafeBufferPointer<UInt8>, PathNode.Capture) throws -> Void)
        rethrows
    {
        element += 1
        try attributes.forEachNumbered { name, value in
            let taker = taker(of: name, attributes)
            guard taker >= 0 else { return }
            try take(value, taker, deliver)
            guard !others.isEmpty, let more = others[name] else { return }
            for taker in more { try take(value, taker, deliver) }
        }
    }

    @inline(__always)
    private func take(
        _ value: UnsafeBufferPointer<UInt8>, _ taker: Int32,
        _ deliver: (UnsafeBufferPointer<UInt8>, PathNode.Capture) throws -> Void
    ) rethrows {
        guard taken[Int(taker)] != element else { return }
        taken[Int(taker)] = element
        try deliver(value, captures[Int(taker)])
    }

    @inline(__always)
    private func taker(of name: Int32, _ attributes: XMLAttributes) -> Int32 {
        if name < first.count, first[Int(name)] != Self.unknown { return first[Int(name)] }
        return learn(name, attributes)
    }

    private func learn(_ number: Int32, _ attributes: XMLAttributes) -> Int32 {
        while first.count <= number { first.append(Self.unknown) }
        let name = attributes.name(number)
        let takers = captures.indices.filter { index in
            if case .attribute(let test) = captures[index].what { test.matches(name) } else { false }
        }.map { Int32($0) }
        first[Int(number)] = takers.first ?? Self.none
        if takers.count > 1 { others[number] = Array(takers.dropFirst()) }
        return first[Int(number)]
    }
}
