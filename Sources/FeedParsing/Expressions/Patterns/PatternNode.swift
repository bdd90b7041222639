/// A part of a regular expression.
indirect enum PatternNode {
    enum Assertion {
        case start, end, lineStart, lineEnd, wordBoundary, noWordBoundary
    }

    case empty
    case scalar(UInt32)
    case any(includesLineEnd: Bool)
    case set(ScalarSet)
    case assertion(Assertion)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// A group with its number.
    case group(PatternNode, Int)
    case `repeat`(PatternNode, atLeast: Int, atMost: Int?, isLazy: Bool)
}
