import FeedModel
import GRDBSQLite

/// The functions of expressions in addition to SQLite's own, and replacements for SQLite's functions that read the
/// time or search for long texts. They give the same result for the same arguments, and NULL if an argument is NULL.
///
/// Used by one connection, which it must outlive.
final class ExpressionFunctions {
    /// The reason, if any, why a call failed that would fail for every record.
    var fault: Finding?
    let patterns = PatternCache()
    /// SQLite's own functions, for those whose arguments are only checked.
    let native = NativeFunctions()

    func register(in connection: OpaquePointer) {
        add("lower", 1, in: connection) { $0.changeCase(from: "A", to: "a") { $0.lowercased() } }
        add("upper", 1, in: connection) { $0.changeCase(from: "a", to: "A") { $0.uppercased() } }
        add("casefold", 1, in: connection) { $0.changeCase(from: "A", to: "a") { $0.caseFolded } }
        add("split_part", 3, in: connection) { $0.splitPart() }
        add("sha256", 1, in: connection) { $0.sha256() }
        add("regexp", 2, in: connection) { $0.regexp() }
        add("regexp_replace", 3, in: connection) { $0.regexpReplace() }
        // What SQLite itself does not have is unknown here, too.
        let known = native.names
        for (name, arguments) in SearchFunctions.all where known.contains(name) {
            add(name, arguments, in: connection) { $0.search(name) }
        }
        for name in TimeFunctions.names where known.contains(name) {
            add(name, -1, in: connection) { $0.time(name) }
        }
    }

    /// A function as SQLite's user data has it: a C function cannot capture what it calls.
    fileprivate final class Function {
        // `unowned(unsafe)`: the functions outlive the connection, which calls only while it is open.
        unowned(unsafe) let functions: ExpressionFunctions
        let body: (FunctionCall) -> Void

        init(_ functions: ExpressionFunctions, _ body: @escaping (FunctionCall) -> Void) {
            self.functions = functions
            self.body = body
        }
    }

    private func add(
        _ name: String, _ arguments: Int32, in connection: OpaquePointer, _ body: @escaping (FunctionCall) -> Void
    ) {
        // SQLite refuses a function only for a wrong name or count. It releases a refused one, too.
        sqlite3_create_function_v2(
            connection, name, arguments, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
            Unmanaged.passRetained(Function(self, body)).toOpaque(),
            { context, count, values in
                guard let context else { return }
                let call = FunctionCall(context, count, values)
                call.function._withUnsafeGuaranteedRef { $0.body(call) }
            }, nil, nil,
            { function in
                if let function { Unmanaged<Function>.fromOpaque(function).release() }
            })
    }

    /// Returns the names of a connection's functions that expressions may call.
    static func names(of connection: OpaquePointer) -> [String] {
        var statement: OpaquePointer?
        sqlite3_prepare_v2(
            connection, "SELECT DISTINCT name FROM pragma_function_list WHERE type = 's' ORDER BY name", -1, &statement,
            nil)
        defer { sqlite3_finalize(statement) }
        var names: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            names.append(String(cString: sqlite3_column_text(statement, 0)))
        }
        return names.filter { !ExpressionGuardian.forbidden.contains($0) && $0.first?.isLetter ?? false }
    }
}

extension FunctionCall {
    fileprivate var function: Unmanaged<ExpressionFunctions.Function> { .fromOpaque(sqlite3_user_data(context)) }

    /// The functions of the connection that calls.
    var functions: ExpressionFunctions { function._withUnsafeGuaranteedRef(\.functions) }

    /// Returns the text with its letters in another case.
    ///
    /// - Parameter start: the first of the 26 ASCII letters that are replaced, for a text that has no others.
    fileprivate func changeCase(from start: Unicode.Scalar, to end: Unicode.Scalar, _ change: (String) -> String) {
        guard let text = text(0) else { return answerNull() }
        guard text.allSatisfy({ $0 < 0x80 }) else { return answer(change(String(decoding: text, as: UTF8.self))) }
        let (start, end) = (UInt8(ascii: start), UInt8(ascii: end))
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(text.count, 1)) { changed in
            for index in text.indices {
                let letter = text[index] &- start
                changed[index] = letter < 26 ? end + letter : text[index]
            }
            answer(UnsafeBufferPointer(rebasing: changed[..<text.count]))
        }
    }

    /// `split_part(text, separator, n)` as in PostgreSQL: the n-th part from the start, or from the end if n is
    /// negative; an empty text if the part does not exist. From the end, the parts are counted first.
    fileprivate func splitPart() {
        guard !hasNull, let text = self.text(0), let separator = self.text(1) else { return answerNull() }
        guard isInteger(2), integer(2) != 0 else {
            return fail("split_part counts the parts from 1, or from the end from -1; '\(string(2) ?? "")' is neither")
        }
        guard allowsSearch(for: separator.count, "split_part") else { return }
        var wanted = integer(2)
        if wanted < 0 {
            var parts: Int64 = 1
            var start = 0
            while let found = text.range(of: separator, from: start) {
                parts += 1
                start = found.upperBound
            }
            wanted = parts + wanted + 1
            guard wanted > 0 else { return answer("") }
        }
        var start = 0
        while wanted > 1 {
            guard let found = text.range(of: separator, from: start) else { return answer("") }
            start = found.upperBound
            wanted -= 1
        }
        let end = text.range(of: separator, from: start)?.lowerBound ?? text.count
        answer(UnsafeBufferPointer(rebasing: text[start..<end]))
    }

    /// `sha256(text)`: 64 hexadecimal digits.
    fileprivate func sha256() {
        guard let text = text(0) else { return answerNull() }
        answer(SHA256.digest(of: UnsafeRawBufferPointer(text)).hexadecimal)
    }
}

extension String {
    /// The text for comparisons in which upper and lower case are the same: Unicode's full case folding, so that
    /// "Straße" and "STRASSE" are one.
    var caseFolded: String {
        var folded = ""
        for scalar in unicodeScalars {
            guard scalar.properties.changesWhenCaseFolded else {
                folded.unicodeScalars.append(scalar)
                continue
            }
            // The letters of Cherokee fold to their upper case.
            switch scalar.value {
            case 0xAB70...0xABBF, 0x13F8...0x13FD: folded += scalar.properties.uppercaseMapping
            default: folded += scalar.properties.lowercaseMapping.uppercased().lowercased()
            }
        }
        return folded
    }
}
