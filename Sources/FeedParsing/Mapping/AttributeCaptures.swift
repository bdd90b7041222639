import XMLStream

/// What takes the attributes of the elements of one path: found by the numbers of the attributes' names, so that an element
/// costs its attributes once, however many columns look for one.
final class AttributeCaptures {
    /// Fewer are looked for one by one.
    static let fewest = 4

    let captures: [PathNode.Capture]
    /// By the number of a name: the first capture that takes such an attribute, `none`, or `unknown`.
    @exclusivity(unchecked) private var first: [Int32] = []
    /// By the number of a capture: the next that takes the same attributes.
    @exclusivity(unchecked) private var others: [Int32: [Int32]] = [:]
    /// By the number of a capture: the element of which it has taken an attribute, the first whose name it looks for.
    @exclusivity(unchecked) private var taken: [Int]
    @exclusivity(unchecked) private var element = 0

    private static let unknown: Int32 = -1
    private static let none: Int32 = -2

    init(_ captures: [PathNode.Capture]) {
        self.captures = captures
        taken = Array(repeating: 0, count: captures.count)
    }

    /// Hands each attribute to whatever takes it.
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
