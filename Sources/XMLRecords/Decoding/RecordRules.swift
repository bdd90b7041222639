import XMLStream

/// What a type declares of its keys; nothing for a type that is no ``XMLRecord``.
struct RecordRules {
    private(set) var paths: [String: XMLPath] = [:]
    private(set) var transforms: [String: XMLTransform] = [:]
    /// The namespaces of the prefixes in the type's names.
    private(set) var namespaces: [String: String] = [:]
    private(set) var dateFormat: DateFormat?

    init() {}

    /// - Throws: ``XMLRecordError`` that names the type, and the key whose path is invalid; also for an invalid date format.
    init(_ record: any XMLRecord.Type) throws {
        for (key, text) in record.xmlPaths {
            do {
                paths[key] = try XMLPath.ofRecord(text)
            } catch {
                throw XMLRecordError(key: key, reason: "\(error); see \(record).xmlPaths")
            }
        }
        transforms = record.xmlTransforms
        namespaces = record.xmlNamespaces
        guard let pattern = record.xmlDateFormat else { return }
        guard let format = DateFormat(pattern) else {
            throw XMLRecordError(reason: "'\(pattern)', \(record).xmlDateFormat, is not a date format")
        }
        dateFormat = format
    }
}
