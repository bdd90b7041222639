import FeedModel

/// Readers of `csv`, `xlsx` and `protobuf`.
extension CSVKeys: ValueGroup {
    func read(_ csv: DeclarationReader) -> CSVDialect? {
        var dialect = CSVDialect()
        if let text = csv[delimiter] {
            dialect.delimiter = Self.character(text)
            if dialect.delimiter == nil {
                csv.report(
                    delimiter, "'\(text)' is not one ASCII character", help: "write \";\", \"\\t\" or \"|\"")
            }
        }
        if let text = csv[quote] {
            dialect.quote = Self.character(text)
            if dialect.quote == nil, !text.isEmpty {
                csv.report(quote, "'\(text)' is neither one ASCII character nor empty (no quotes)")
            } else if dialect.quote == dialect.delimiter ?? UInt8(ascii: ",") {
                csv.report(quote, "the quote is also the delimiter")
            }
        }
        dialect.header = csv.value(of: header)
        dialect.skip = csv.value(of: skip)
        dialect.encoding = csv[encoding]
        dialect.skipsMalformed = csv[onError] == .skip
        return dialect
    }

    /// Returns the only character of a text; nil if it is not ASCII, or ends a line.
    private static func character(_ text: String) -> UInt8? {
        guard text.utf8.count == 1, let byte = text.utf8.first, byte != 0, byte != 0x0A, byte != 0x0D else {
            return nil
        }
        return byte
    }
}

extension WorkbookKeys: ValueGroup {
    func read(_ workbook: DeclarationReader) -> WorkbookDialect? {
        var dialect = WorkbookDialect()
        dialect.sheet = workbook[sheet]
        dialect.header = workbook.value(of: header)
        dialect.skip = workbook.value(of: skip)
        return dialect
    }
}

extension ProtobufKeys: ValueGroup {
    func read(_ protobuf: DeclarationReader) -> ProtobufSchema? {
        guard let message = protobuf[message], let path = protobuf[descriptor] else { return nil }
        let bytes = protobuf.reporting(descriptor) { try ConfigurationFile.read(named: path) }
        let read = bytes.flatMap { bytes in
            protobuf.reporting(descriptor, "the file \(path) ") { try ProtobufSchema(descriptorSet: bytes) }
        }
        guard var schema = read else { return nil }
        schema.message = message
        if schema.messages[message] != nil { return schema }
        protobuf.report(
            self.message, "the descriptor set has no message '\(message)'",
            help: didYouMean(message, among: schema.messages.keys))
        return nil
    }
}
