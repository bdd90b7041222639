import XMLStream

extension XMLPath {
    /// The paths of a record's keys.
    ///
    /// - Throws: ``XMLRecordError`` that names the type and the key whose path is not one.
    static func paths(of record: any XMLRecord.Type) throws -> [String: XMLPath] {
        var paths: [String: XMLPath] = [:]
        for (key, text) in record.xmlPaths {
            do {
                paths[key] = try XMLPath.ofRecord(text)
            } catch {
                throw XMLRecordError(key: key, reason: "\(error); see \(record).xmlPaths")
            }
        }
        return paths
    }
}

extension DateFormat {
    /// The format of a record's dates; nil where it declares none.
    ///
    /// - Throws: ``XMLRecordError`` that names the type whose format is not one.
    static func format(of record: any XMLRecord.Type) throws -> DateFormat? {
        guard let pattern = record.xmlDateFormat else { return nil }
        guard let format = DateFormat(pattern) else {
            throw XMLRecordError(reason: "'\(pattern)', \(record).xmlDateFormat, is not a date format")
        }
        return format
    }
}
