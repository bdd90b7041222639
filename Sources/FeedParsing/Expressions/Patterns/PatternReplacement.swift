/// The text that takes the place of a match, with the groups that it names.
struct PatternReplacement {
    private enum Part {
        case text([UInt8])
        case group(Int)
    }

    /// The greatest number of a group that can be named: numbers have one digit.
    static let lastGroup = 9
    /// The most bytes of a text with its replacements.
    static let longestResult = 16 << 20

    private var parts: [Part] = []
    /// The greatest number of a group that is named.
    private var lastGroup = 0

    /// - Throws: ``PatternError`` if it names a group that the pattern does not have.
    init(_ template: UnsafeBufferPointer<UInt8>, groups: Int) throws(PatternError) {
        var literal: [UInt8] = []
        var index = 0
        while index < template.count {
            let byte = template[index]
            let isMark = byte == UInt8(ascii: "$") || byte == UInt8(ascii: "\\")
            guard isMark, index + 1 < template.count else {
                literal.append(byte)
                index += 1
                continue
            }
            let next = template[index + 1]
            index += 2
            if next == byte {
                literal.append(byte)
            } else if next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") {
                let group = Int(next - UInt8(ascii: "0"))
                guard group <= groups else {
                    throw PatternError(
                        "the replacement names group \(group), and the pattern has \(groups)",
                        help: "write '$$' for a '$'")
                }
                if !literal.isEmpty { parts.append(.text(literal)) }
                literal = []
                parts.append(.group(group))
                lastGroup = max(lastGroup, group)
            } else {
                literal += [byte, next]
            }
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
    }

    /// Returns the text with every match replaced; nil without a match.
    ///
    /// - Throws: ``PatternError`` if the search takes too long, or the result is longer than a value may be.
    func replace(
        in text: UnsafeBufferPointer<UInt8>, _ program: PatternProgram, stepLimit: Int = PatternSearch.stepLimit
    ) throws(PatternError) -> [UInt8]? {
        var search = PatternSearch(program, text, groups: lastGroup, stepLimit: stepLimit)
        var result: [UInt8] = []
        var copied = 0
        var position = 0
        var isFound = false
        while position <= text.count, try search.find(from: position), let match = search.range(ofGroup: 0) {
            isFound = true
            try append(text[copied..<match.lowerBound])
            try search.spend(parts.count)
            for part in parts {
                switch part {
                case .text(let bytes): try append(bytes)
                case .group(let group): if let range = search.range(ofGroup: group) { try append(text[range]) }
                }
            }
            copied = match.upperBound
            // After an empty match the search goes on behind the next character, which is copied.
            position =
                !match.isEmpty ? copied : copied + (copied < text.count ? search.scalar(at: copied).length : 1)
        }
        guard isFound else { return nil }
        try append(text[min(copied, text.count)...])
        return result

        func append(_ bytes: some Collection<UInt8>) throws(PatternError) {
            guard result.count + bytes.count <= Self.longestResult else {
                throw PatternError("the result is longer than \(Self.longestResult) bytes")
            }
            result += bytes
        }
    }
}
