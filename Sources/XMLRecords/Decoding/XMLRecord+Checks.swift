import XMLStream

extension XMLPath {
    /// Returns the paths of a record's keys.
    ///
    /// - Throws: ``XMLRecordError`` that names the type and the key whose path is invalid.
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
    /// Returns the format of a record's dates; nil if it declares none.
    ///
    /// - Throws: ``XMLRecordError`` that names the type whose format is invalid.
    static func format(of record: any XMLRecord.Type) throws -> DateFormat? {
        guard let pattern = record.xmlDateFormat else { return nil }
        guard let format = DateFormat(pattern) else {
            throw XMLRecordError(reason: "'\(pattern)', \(record).xmlDateFormat, is not a date format")
        }
        return format
    }
}
