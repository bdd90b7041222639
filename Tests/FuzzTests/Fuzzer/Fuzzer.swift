import Foundation

/// libFuzzer over one kind of input; see `Scripts/fuzz`. Built only where `TRIBUTARY_FUZZ` is set.
///
/// `fuzz KIND [libFuzzer's arguments]`; `fuzz KIND --dictionary` prints the kind's words as libFuzzer reads them, `fuzz KIND
/// --folder` where its corpus is, `fuzz --kinds` all kinds.
@main struct Fuzzer {
    /// Set once, before libFuzzer calls back; it calls from this thread only.
    nonisolated(unsafe) static var target: (any FuzzTarget)?

    static func main() throws {
        let arguments = CommandLine.arguments
        let kinds = FuzzKind.allCases.map(\.rawValue).joined(separator: " ")
        if arguments.dropFirst().first == "--kinds" { return print(kinds) }
        guard arguments.count > 1, let kind = FuzzKind(rawValue: arguments[1]) else {
            FileHandle.standardError.write(Data("usage: fuzz KIND [ARGUMENTS]; kinds: \(kinds)\n".utf8))
            exit(64)
        }
        switch arguments.dropFirst(2).first {
        case "--dictionary":
            for word in kind.words where !word.isEmpty {
                let digits = word.utf8.map { "\\x" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                print("\"" + digits.joined() + "\"")
            }
            return
        case "--folder": return print(kind.corpusFolder.path)
        default: break
        }
        target = try kind.makeTarget()
        // libFuzzer keeps what it is given for as long as it runs.
        let rest = [arguments[0]] + arguments.dropFirst(2)
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: rest.count + 1)
        for (index, argument) in rest.enumerated() { pointers[index] = strdup(argument) }
        pointers[rest.count] = nil
        var count = CInt(rest.count)
        var vector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = pointers
        exit(runDriver(&count, &vector, testOneInput))
    }
}

/// libFuzzer's own loop (llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a library").
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Runs one input. Named so because the library asks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    do {
        _ = try Fuzzer.target?.run(input)
    } catch {
        // A trap is how libFuzzer is told.
        fatalError("\(error)")
    }
    return 0
}
