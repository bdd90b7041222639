#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// SQLite's functions that search a text for another one. Their time grows with the lengths of both, so one is bounded.
enum SearchFunctions {
    /// The most bytes that are searched for, as in a pattern of LIKE.
    static let longest = 1000

    /// Their names and the number of their arguments. `trim` with one argument is another function.
    static let all: [(name: String, arguments: Int32)] = [
        ("replace", 3), ("instr", 2), ("trim", 2), ("ltrim", 2), ("rtrim", 2),
    ]
}

extension FunctionCall {
    func search(_ name: String) {
        guard !hasNull else { return answerNull() }
        guard allowsSearch(for: byteCount(1), name) else { return }
        functions.native.compute(name, self)
    }

    /// Returns true if so many bytes may be searched for; otherwise the call has failed.
    func allowsSearch(for count: Int, _ name: String) -> Bool {
        if count <= SearchFunctions.longest { return true }
        fail("\(name) takes at most \(SearchFunctions.longest) bytes to search for, and not \(count)")
        return false
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the first position of some bytes at or after a position; nil without one, and for no bytes.
    func range(of other: UnsafeBufferPointer<UInt8>, from start: Int) -> Range<Int>? {
        guard let text = baseAddress, let wanted = other.baseAddress, let first = other.first else { return nil }
        var position = start
        while position + other.count <= count {
            let places = count - other.count + 1 - position
            guard let found = memchr(text + position, Int32(first), places) else { return nil }
            position = UnsafeRawPointer(found) - UnsafeRawPointer(text)
            if memcmp(found, wanted, other.count) == 0 { return position..<position + other.count }
            position += 1
        }
        return nil
    }
}
