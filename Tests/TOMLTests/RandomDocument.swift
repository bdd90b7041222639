/// A random document in two spellings: as TOML 1.0 has it, and as only TOML 1.1 allows it.
struct RandomDocument {
    /// A piece of text in both spellings.
    struct Spellings {
        var old: String
        var new: String

        init(_ old: String, _ new: String? = nil) {
            self.old = old
            self.new = new ?? old
        }

        static func + (left: Self, right: Self) -> Self { Self(left.old + right.old, left.new + right.new) }
        static func + (left: Self, right: String) -> Self { left + Self(right) }
        static func + (left: String, right: Self) -> Self { Self(left) + right }
    }

    private var random: RandomNumbers
    private(set) var text = Spellings("")

    init(seed: UInt64) {
        random = RandomNumbers(seed: seed)
        text = keys(3, depth: 0, "")
        for index in 0..<random.next(4) {
            text = text + "[t\(index)]\n" + keys(2, depth: 0, "")
            if random.next(2) == 0 { text = text + "[ t\(index) . \"s\u{E9}\" ] # sub\n" + keys(2, depth: 0, "") }
        }
        for index in 0..<random.next(3) {
            for _ in 0...random.next(2) { text = text + "[[a\(index)]]\n" + keys(2, depth: 0, "") }
        }
    }

    private mutating func keys(_ most: Int, depth: Int, _ start: String) -> Spellings {
        (0...random.next(most)).reduce(Spellings("")) { text, index in
            text + key(index) + " = " + value(depth: depth) + random.one(of: ["\n", " # a comment\n", "\r\n", "\n\n"])
        }
    }

    private mutating func key(_ index: Int) -> String {
        random.one(of: [
            "k\(index)", "\"k \(index)\"", "'k.\(index)'", "k\(index) . x", "k\(index).\"y\".z", "\(index)",
        ])
    }

    private mutating func value(depth: Int) -> Spellings {
        switch random.next(depth < 4 ? 9 : 6) {
        case 0: return "\"" + pieces() + "\""
        case 1: return "\"\"\"\n" + pieces() + "\n\"two\" \\\n  " + pieces() + "\"\"\""
        case 2: return Spellings(random.one(of: ["'C:\\x'", "''", "'''\nit's\n'''", "'\u{1F600} #'"]))
        case 3: return Spellings(integer())
        case 4: return date()
        case 5:
            return Spellings(
                random.one(of: ["true", "false", "inf", "-inf", "nan", "1e06", "6.626e-34", "-0.5", "224_617.445_9"]))
        case 6:
            let elements = (0..<random.next(4)).map { _ in value(depth: depth + 1) }
            return "[" + elements.reduce(Spellings("")) { $0 + $1 + random.one(of: [",", ", # a ]\n", "\n,\t"]) } + "]"
        default: return table(depth: depth + 1)
        }
    }

    private mutating func table(depth: Int) -> Spellings {
        let count = random.next(4)
        var text = "{" + gap()
        for index in 0..<count {
            text = text + key(index) + " = " + value(depth: depth) + gap()
            if index < count - 1 { text = text + "," + gap() }
        }
        return text + Spellings("", count > 0 && random.next(2) == 0 ? ",\n" : "") + "}"
    }

    /// A place in braces where TOML 1.1 allows line ends and comments.
    private mutating func gap() -> Spellings {
        Spellings(" ", random.one(of: [" ", "\n", "\r\n\t", " # a }\n", "\n\n# {\n"]))
    }

    private mutating func pieces() -> Spellings {
        (0..<random.next(5)).reduce(Spellings("")) { text, _ in
            switch random.next(6) {
            case 0: text + Spellings("\\u001B", "\\e")
            case 1: text + Spellings("\\u00e9", "\\xE9")
            case 2: text + Spellings("\\U00000041", "\\x41")
            default: text + random.one(of: ["a", " b ", "\u{E9}", "\\n", "\\\"", "\\\\", "\u{1F600}", "#", "'", "\\t"])
            }
        }
    }

    private mutating func integer() -> String {
        random.one(of: ["0", "-0", "+99", "1_000", "0xDEAD_beef", "0o17", "0b1101", "\(Int.max)", "\(Int.min)"])
    }

    private mutating func date() -> Spellings {
        let day = random.one(of: ["1979-05-27", "2020-02-29", "0001-01-01", "9999-12-31"])
        let time = random.one(of: [
            Spellings("07:32:00", "07:32"), Spellings("00:00:00", "00:00"), Spellings("23:59:59.999"),
            Spellings("00:32:00.123456"),
        ])
        let zone = random.one(of: ["", "Z", "z", "+01:00", "-07:30"])
        switch random.next(3) {
        case 0: return Spellings(day)
        case 1: return time
        default: return day + random.one(of: ["T", "t", " "]) + time + zone
        }
    }
}

/// The same numbers on every run.
struct RandomNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493 }

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func one<Element>(of elements: [Element]) -> Element { elements[next(elements.count)] }
}
