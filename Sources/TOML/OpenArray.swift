/// An array of tables while its document is being read. Each `[[header]]` adds a table.
final class OpenArray {
    private(set) var elements: [(table: OpenTable, line: Int)] = []

    func append(_ table: OpenTable, line: Int) { elements.append((table, line)) }

    func closed() -> [TOMLNode] { elements.map { TOMLNode(.table($0.table.closed()), line: $0.line) } }
}
