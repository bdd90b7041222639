/// Reads a regular expression: literals, `.`, `[…]`, `\d \w \s \b` and their opposites, `^ $`, groups, `|`, `* + ? {m,n}`
/// and their lazy forms, and the options `(?i)`, `(?s)` and `(?m)`.
///
/// What only a search that goes back could answer is refused: references to groups, and looking around.
struct PatternParser {
    /// The most a repetition counts to.
    private static let mostRepetitions = 1000
    private static let deepestGroup = 100

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private(set) var groups = 0
    private var depth = 0
    private var foldsCase = false
    private var dotMatchesLineEnd = false
    private var isMultiline = false

    init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

    /// Returns the pattern's parts. Only ``PatternNode/empty`` parts produce no instruction, so the number of
    /// instructions bounds the compiled program.
    mutating func parse() throws(PatternError) -> PatternNode {
        let node = try choice()
        guard position == scalars.count else { throw PatternError("')' without '('") }
        return node
    }

    private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    private mutating func choice() throws(PatternError) -> PatternNode {
        var options = [try sequence()]
        while take("|") { options.append(try sequence()) }
        return options.count == 1 ? options[0] : .choice(options)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var parts: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            position += 1
            let part = try repeated(try atom(scalar))
            if case .empty = part { continue }
            parts.append(part)
        }
        return parts.isEmpty ? .empty : parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func atom(_ scalar: Unicode.Scalar) throws(PatternError) -> PatternNode {
        switch scalar {
        case "(": return try group()
        case "[": return .set(try set())
        case ".": return .any(includesLineEnd: dotMatchesLineEnd)
        case "^": return .assertion(isMultiline ? .lineStart : .start)
        case "$": return .assertion(isMultiline ? .lineEnd : .end)
        case "\\": return try escape()
        case "*", "+", "?": throw PatternError("'\(scalar)' has nothing to repeat")
        default: return literal(scalar)
        }
    }

    private func literal(_ scalar: Unicode.Scalar) -> PatternNode {
        guard foldsCase, scalar.properties.isCased else { return .scalar(scalar.value) }
        var set = ScalarSet()
        set.insert(scalar.value...scalar.value)
        return .set(finished(set))
    }

    private func finished(_ set: ScalarSet) -> ScalarSet {
        var set = set
        set.foldsCase = foldsCase
        set.finish()
        return set
    }

    // MARK: - Groups

    private mutating func group() throws(PatternError) -> PatternNode {
        let options = (foldsCase, dotMatchesLineEnd, isMultiline)
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepestGroup else { throw PatternError("groups are nested too deeply") }
        var number: Int?
        if take("?") {
            // Options without a colon last until the end of the group around them.
            if try isOption() { return .empty }
        } else {
            groups += 1
            number = groups
        }
        let inner = try choice()
        guard take(")") else { throw PatternError("'(' without ')'") }
        (foldsCase, dotMatchesLineEnd, isMultiline) = options
        return number.map { .group(inner, $0) } ?? inner
    }

    /// Reads what follows `(?`. Returns true for options that hold for what follows them, and false for a group.
    private mutating func isOption() throws(PatternError) -> Bool {
        while let letter = next {
            position += 1
            switch letter {
            case ":": return false
            case ")": return true
            case "i": foldsCase = true
            case "s": dotMatchesLineEnd = true
            case "m": isMultiline = true
            default:
                throw PatternError(
                    "'(?\(letter)' is not known here",
                    help: "there are groups '(?:…)' and the options '(?i)', '(?s)' and '(?m)'"
                )
            }
        }
        throw PatternError("'(' without ')'")
    }

    // MARK: - Repetition

    private static let quantifiers: [Unicode.Scalar] = ["*", "+", "?", "{"]

    private mutating func repeated(_ node: PatternNode) throws(PatternError) -> PatternNode {
        guard let scalar = next, Self.quantifiers.contains(scalar) else { return node }
        position += 1
        let bounds: (least: Int, most: Int?) =
            switch scalar {
            case "*": (0, nil)
            case "+": (1, nil)
            case "?": (0, 1)
            default: try counts()
            }
        let isLazy = take("?")
        if let second = next, Self.quantifiers.contains(second) {
            throw PatternError("'\(second)' repeats what is repeated already", help: "put that in a group '(?:…)'")
        }
        if case .empty = node { return .empty }
        return bounds.most == 0 ? .empty : .repeat(node, atLeast: bounds.least, atMost: bounds.most, isLazy: isLazy)
    }

    /// Reads what follows the brace of `{m}`, `{m,}` or `{m,n}`.
    private mutating func counts() throws(PatternError) -> (Int, Int?) {
        let least = number()
        var most = least
        if take(",") { most = number() }
        guard take("}"), let least else {
            throw PatternError("'{' is not a count such as {2} or {2,5}", help: "write '\\{' for the character")
        }
        guard least <= Self.mostRepetitions, most ?? 0 <= Self.mostRepetitions, most.map({ $0 >= least }) ?? true else {
            throw PatternError("a count goes from the smaller to the larger number, up to \(Self.mostRepetitions)")
        }
        return (least, most)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let digit = next, digit.value >= 48, digit.value < 58, value ?? 0 <= Self.mostRepetitions {
            value = (value ?? 0) * 10 + Int(digit.value - 48)
            position += 1
        }
        return value
    }

    // MARK: - Escapes and sets

    private mutating func escape() throws(PatternError) -> PatternNode {
        guard let scalar = next else { throw PatternError("'\\' at the end") }
        position += 1
        switch scalar {
        case "b": return .assertion(.wordBoundary)
        case "B": return .assertion(.noWordBoundary)
        case "A": return .assertion(.start)
        case "z": return .assertion(.end)
        case "0"..."9":
            throw PatternError("'\\\(scalar)' refers to a group, which a pattern cannot: its time would have no bound")
        default: break
        }
        if let (kind, isNegated) = Self.class(scalar) {
            var set = ScalarSet()
            set.insert(kind, isNegated: isNegated)
            return .set(finished(set))
        }
        return literal(try character(scalar))
    }

    private static func `class`(_ scalar: Unicode.Scalar) -> (ScalarSet.Class, isNegated: Bool)? {
        switch scalar {
        case "d": (.digit, false)
        case "D": (.digit, true)
        case "w": (.word, false)
        case "W": (.word, true)
        case "s": (.space, false)
        case "S": (.space, true)
        default: nil
        }
    }

    /// Returns the character for which an escape stands.
    private mutating func character(_ scalar: Unicode.Scalar) throws(PatternError) -> Unicode.Scalar {
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "f": return "\u{0C}"
        case "x", "u":
            let count = scalar == "x" ? 2 : 4
            let digits = scalars[position...].prefix(count)
            guard digits.count == count,
                let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
                let found = Unicode.Scalar(value)
            else { throw PatternError("'\\\(scalar)' takes \(count) hexadecimal digits") }
            position += count
            return found
        case _ where scalar.properties.isAlphabetic: throw PatternError("'\\\(scalar)' is not known here")
        default: return scalar
        }
    }

    private mutating func set() throws(PatternError) -> ScalarSet {
        var set = ScalarSet()
        set.isNegated = take("^")
        var isFirst = true
        while let scalar = next {
            position += 1
            if scalar == "]", !isFirst { return finished(set) }
            isFirst = false
            guard let first = try member(scalar, of: &set) else { continue }
            guard next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
                set.insert(first.value...first.value)
                continue
            }
            position += 1
            let end = scalars[position]
            position += 1
            guard let last = try member(end, of: &set), last.value >= first.value else {
                throw PatternError("a range in '[…]' goes from the smaller to the larger character")
            }
            set.insert(first.value...last.value)
        }
        throw PatternError("'[' without ']'")
    }

    /// Returns a character of a set; nil for a class, which is inserted.
    private mutating func member(_ scalar: Unicode.Scalar, of set: inout ScalarSet) throws(PatternError)
        -> Unicode.Scalar?
    {
        guard scalar == "\\" else { return scalar }
        guard let escaped = next else { throw PatternError("'\\' at the end") }
        position += 1
        guard let (kind, isNegated) = Self.class(escaped) else { return try character(escaped) }
        set.insert(kind, isNegated: isNegated)
        return nil
    }
}
