import Foundation

// Reads documents from standard input, each after its length in four bytes, the least significant first, and writes a line
// for each: `E line:column message`, or `V` and the values as JSON that the trial reads back.

func hexadecimal(_ text: String) -> String {
    text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

func json(_ value: TOMLValue) -> String {
    switch value {
    case .string(let text): "{\"s\":\"\(hexadecimal(text))\"}"
    case .integer(let number): "{\"i\":\(number)}"
    case .float(let number): "{\"f\":\"\(String(number.bitPattern, radix: 16))\"}"
    case .boolean(let flag): "{\"b\":\(flag)}"
    case .date(let text): "{\"d\":\"\(hexadecimal(text))\"}"
    case .array(let nodes): "[" + nodes.map { json($0.value) }.joined(separator: ",") + "]"
    case .table(let table):
        "{\"t\":{" + table.entries.map { "\"\(hexadecimal($0.key))\":\(json($0.node.value))" }.joined(separator: ",")
            + "}}"
    }
}

let input = FileHandle.standardInput
while let head = try input.read(upToCount: 4), head.count == 4 {
    let length = head.reversed().reduce(0) { $0 << 8 | Int($1) }
    var document: [UInt8] = []
    while document.count < length, let piece = try input.read(upToCount: length - document.count), !piece.isEmpty {
        document += piece
    }
    do throws(TOMLError) {
        let table = try TOMLParser.parse(document)
        print("V", json(.table(table)))
    } catch {
        print("E \(error.line):\(error.column) \(error.message.replacing("\n", with: " "))")
    }
}
