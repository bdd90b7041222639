/// The text that takes the place of a match, with the groups that it names.
struct PatternReplacement {
    private enum Part {
        case text([UInt8])
        case group(Int)
    }

    private var parts: [Part] = []

    /// - Throws: ``PatternError`` where it names a group that the pattern does not have.
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
                        "the replacement names group \(group), and the pattern has \(groups); write '$$' for a '$'")
                }
                if !literal.isEmpty { parts.append(.text(literal)) }
                literal = []
                parts.append(.group(group))
            } else {
                literal += [byte, next]
            }
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
    }

    /// Returns the text with every match replaced; nil where there is none.
    func replace(
        in text: UnsafeBufferPointer<UInt8>, _ program: PatternProgram, stepLimit: Int = PatternSearch.stepLimit
    ) throws(PatternError) -> [UInt8]? {
        var search = try PatternSearch(program, text, stepLimit: stepLimit)
        var result: [UInt8] = []
        var copied = 0
        var position = 0
        var isFound = false
        while position <= text.count, try search.find(from: position) {
            isFound = true
            let (start, end) = (search.slots[0], search.slots[1])
            result += text[copied..<start]
            for part in parts {
                switch part {
                case .text(let bytes): result += bytes
                case .group(let group):
                    let (from, to) = (search.slots[2 * group], search.slots[2 * group + 1])
                    if from >= 0, to >= from { result += text[from..<to] }
                }
            }
            guard result.count <= RecordInstance.limit else {
                throw PatternError("the result is longer than \(RecordInstance.limit) bytes")
            }
            copied = end
            // After an empty match the search goes on behind the next character, which is copied.
            position = end > start ? end : end + (end < text.count ? search.scalar(at: end).length : 1)
        }
        guard isFound else { return nil }
        result += text[min(copied, text.count)...]
        return result
    }
}
