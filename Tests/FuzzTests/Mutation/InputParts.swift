/// The parts that an input seems to have, found without parsing it: XML's elements, JSON's and TOML's brackets, lines.
enum InputParts {
    /// Parts, with what opens and what closes each.
    static func brackets(in input: [UInt8]) -> [(part: Range<Int>, head: Range<Int>, tail: Range<Int>)] {
        var found: [(part: Range<Int>, head: Range<Int>, tail: Range<Int>)] = []
        var tags: [Range<Int>] = []
        var brackets: [(open: UInt8, index: Int)] = []
        var index = 0
        while index < input.count {
            switch input[index] {
            case UInt8(ascii: "<"):
                guard let end = input[index...].firstIndex(of: UInt8(ascii: ">")) else { return found }
                let tag = index..<(end + 1)
                if index + 1 < input.count, input[index + 1] == UInt8(ascii: "/") {
                    if let start = tags.popLast() { found.append((start.lowerBound..<tag.upperBound, start, tag)) }
                } else if input[end - 1] == UInt8(ascii: "/") {
                    found.append((tag, tag, tag.upperBound..<tag.upperBound))
                } else {
                    tags.append(tag)
                }
                index = tag.upperBound
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                brackets.append((input[index], index))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let open = brackets.popLast() {
                    found.append((open.index..<(index + 1), open.index..<(open.index + 1), index..<(index + 1)))
                }
            default:
                break
            }
            index += 1
        }
        return found
    }

    /// Those, and lines with their line feeds.
    static func all(of input: [UInt8]) -> [Range<Int>] {
        var parts = brackets(in: input).map(\.part)
        var start = 0
        for index in input.indices where input[index] == 0x0A {
            parts.append(start..<(index + 1))
            start = index + 1
        }
        if start < input.count { parts.append(start..<input.count) }
        return parts
    }
}
