import ArgumentParser
import FeedConfiguration
import FeedModel
import Foundation

/// The options of `infer` and `init` that say how a document is requested and written, and what is proposed for it.
struct DocumentOptions: ParsableArguments {
    @Option(
        name: .long, help: "The source's name; by default from the document, with a number if the name is taken."
    )
    var name: String?

    @Flag(name: .long, help: "Propose a mapping even if a built-in parser knows the document.")
    var mapping = false

    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp(
            "A header of the request, as NAME: VALUE. In the value, ${NAME} stands for an environment variable; the proposal has such a variable for each secret.",
            valueName: "header"))
    var header: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A bearer token of the request. ${NAME} stands for an environment variable; the proposal has such a variable.",
            valueName: "token"))
    var bearer: String?

    @Option(
        name: .long,
        help:
            "The document's format: xml, json, jsonl, csv, html, xlsx or gtfs-realtime; by default derived from its media type, suffix or first lines.",
        transform: { text in
            // The options name no descriptor set.
            guard let format = BodyFormat(rawValue: text), format != .protobuf else {
                throw ValidationError("write xml, json, jsonl, csv, html, xlsx or gtfs-realtime")
            }
            return format
        })
    var format: BodyFormat?

    @Option(
        name: .long,
        help:
            "The encoding of a document in CSV, as for iconv(1); by default that of the response, UTF-8 or windows-1252."
    )
    var encoding: String?

    @Option(name: .long, help: "The sheet of a workbook; by default the first one that is not hidden.")
    var sheet: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The number of rows of a workbook's sheet above the header.", valueName: "rows"))
    var skip: Int?

    /// The names of the options that are given.
    var given: [String] {
        [
            ("--name", name != nil), ("--header", !header.isEmpty), ("--bearer", bearer != nil),
            ("--format", format != nil),
            ("--encoding", encoding != nil), ("--sheet", sheet != nil),
            ("--skip", skip != nil),
        ].filter(\.1).map(\.0)
    }

    /// The declared dialect. An option of workbooks alone says that the document is one.
    var dialect: BodyDialect {
        var dialect = BodyDialect(format: format ?? (sheet != nil || skip != nil ? .xlsx : nil))
        dialect.csv.encoding = encoding
        dialect.xlsx.sheet = sheet
        dialect.xlsx.skip = skip ?? 0
        return dialect
    }

    /// Reads the headers and the token.
    ///
    /// - Parameters:
    ///   - location: the document.
    ///   - file: the configuration's file, in whose folder the files of `${file:PATH}` are.
    /// - Throws: ``Failure``.
    func credentials(for location: String?, beside file: String) throws -> GivenCredentials {
        let credentials: GivenCredentials
        do throws(Finding) {
            credentials = try GivenCredentials(
                headers: header, bearer: bearer, environment: ProcessInfo.processInfo.environment,
                folder: URL(fileURLWithPath: file).deletingLastPathComponent().path)
        } catch {
            throw Failure.usage("--header or --bearer: \(error)")
        }
        let isOfServer = ["http://", "https://"].contains { location?.lowercased().hasPrefix($0) ?? false }
        guard credentials.isEmpty || isOfServer else {
            throw Failure.usage("--header and --bearer are for a document at an http: or https: address")
        }
        return credentials
    }

    func validate() throws {
        if sheet != nil || skip != nil, dialect.format != .xlsx {
            throw ValidationError("--sheet and --skip are for workbooks, --format xlsx")
        }
        if let skip, !(0...1_000_000).contains(skip) {
            throw ValidationError("--skip is a number of rows, at most 1,000,000")
        }
    }
}
