extension FeedResponse {
    /// The media type of the document, in lower case and without parameters: that of the Content-Type, or else the one that
    /// the document's name has. Empty if neither shows any.
    package var documentType: String { typeByName ?? mediaType }

    /// The Content-Type, with ``documentType`` as its media type; nil without one.
    package var documentContentType: String? {
        guard let type = typeByName else { return self[header: "Content-Type"] }
        return type + (charset.map { "; charset=\"\($0)\"" } ?? "")
    }

    /// The media type by the suffix of the document's name, if the Content-Type does not show the format; nil without one.
    private var typeByName: String? {
        let type = mediaType
        let isSpreadsheet = type == "application/vnd.ms-excel"
        guard isSpreadsheet || Self.unspecificTypes.contains(type) else { return nil }
        let names = member.map { [$0[...]] } ?? [url, requestedURL].map(Self.path)
        let found = names.lazy.compactMap { Self.mediaType(ofName: $0) }.first
        return isSpreadsheet && found.map { !$0.hasSuffix("json") } != true ? nil : found
    }

    /// Media types that show no format: of unknown files, of any text, and of compressed files.
    private static let unspecificTypes: Set = [
        "", "text/plain", "application/octet-stream", "binary/octet-stream", "application/gzip", "application/x-gzip",
        "application/zip", "application/x-zip-compressed",
    ]

    /// Returns the path of an address.
    private static func path(_ address: String) -> Substring {
        let start = address.prefix { $0 != "?" && $0 != "#" }
        return start.firstRange(of: "://").map { start[$0.upperBound...].drop { $0 != "/" } } ?? start
    }

    /// Returns the media type for the suffix of a document's name; nil if it has none that shows a format for certain. A
    /// document named `.xml` is one in XML by its first byte only.
    package static func mediaType(ofName name: some StringProtocol) -> String? {
        var file = name.split(separator: "/").last?.lowercased() ?? ""
        if let compression = compressions.first(where: file.hasSuffix) { file.removeLast(compression.count) }
        return switch file.split(separator: ".").dropFirst().last {
        case "csv": "text/csv"
        case "tsv", "tab": "text/tab-separated-values"
        case "jsonl", "ndjson": "application/x-ndjson"
        case "json": "application/json"
        case "xlsx": workbookType
        default: nil
        }
    }

    /// The media type of a workbook in Office Open XML.
    package static let workbookType = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

    private static let compressions = [".gz", ".zip", ".bz2", ".xz", ".zst", ".lzma"]
}
