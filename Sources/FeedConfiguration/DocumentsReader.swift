import FeedModel

/// Reads `documents`: the pattern of the members of an archive, or of the files of a folder.
struct DocumentsReader {
    let table: DeclarationReader
    private let keys = RequestKeys.all

    /// Reads `documents`. The files that an address with `*` names are documents, too.
    ///
    /// - Parameters:
    ///   - url: the request's address.
    ///   - forEach: the rows for which the request is sent.
    func documents(at url: InterpolatedText?, of forEach: ForEachDeclaration?) -> MemberPattern? {
        let target = url.flatMap { $0.isReference ? nil : try? RequestAddress($0.probe) }
        let isPattern = target?.pattern != nil
        let text = table[keys.documents]
        guard let text = text ?? (isPattern ? "**" : nil) else {
            if target?.isFolder == true {
                let below = target?.listsSubfolders == true ? ", or \"**/*.xml\" for all below it" : ""
                table.report("url", "names a folder", help: "add documents = \"*.xml\" for the files in it" + below)
            }
            return nil
        }
        let place = table.has(keys.documents) ? "documents" : "url"
        if isPattern, table.has(keys.documents) {
            table.report(
                "documents", "'url' already has a pattern", help: "give one here or in 'url'")
        }
        if text.isEmpty || text.hasPrefix("/") {
            table.report(
                "documents",
                "\(text.isEmpty ? "is empty" : "'\(text.shortened(to: 100))' begins with '/'; names in an archive do not")",
                help: "write \"*.xml\", or \"**/*.xml\" for files in any folder")
        } else if let target, target.isFolder, !target.listsSubfolders, text.contains("/") {
            table.report(
                "documents",
                "'\(text.shortened(to: 100))' has a '/', but a server's listing is of one folder",
                help: "write \"*.xml\"")
        } else if text.utf8.count > MemberPattern.lengthLimit {
            table.report("documents", "has more than \(MemberPattern.lengthLimit) bytes")
        }
        for key in table.present(keys.capture, keys.page, keys.until, keys.soap) {
            table.report(place, "a request of several documents cannot have '\(key.entry.name)'")
        }
        if forEach?.maxSkipped != nil {
            table.report(place, "an archive cannot be skipped", help: "remove on_error = \"skip\" from for_each")
        }
        return MemberPattern(text)
    }
}
