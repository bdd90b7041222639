import FeedModel

/// Reads `after_commit`, and checks that it suits its request.
struct AfterCommitReader {
    let table: DeclarationReader
    private let key = RequestKeys.all.afterCommit

    func read(_ request: inout RequestDeclaration) {
        guard let action = table[key] else { return }
        request.afterCommit = action
        let address = request.url.probe
        let target = try? RequestAddress(address)
        let listing = target.flatMap { $0.pattern ?? ($0.namesFolder ? request.documents : nil) }
        let kind = RequestAddress.kind(of: address)
        if case .move(let folder) = action { check(folder, listing, isRemote: kind != .file) }
        guard target != nil, kind != .web else {
            return table.report(key, "requires a file:, s3:, sftp:, ftps: or ftp: address")
        }
        if request.content == .captures { table.report(key, "has no effect on a request that stages no rows") }
        if let listing, request.mirrors {
            table.report(
                key, "a mirror of the files that match '\(listing.text)' would delete the rows of those that are gone",
                help: "use sync = \"upsert\" or \"insert\"")
        } else if let listing, request.appends {
            // After a failure of the action, all files are read again with the new ones.
            table.report(
                key, "sync = \"append\" could add the rows of a file that matches '\(listing.text)' twice",
                help: "use sync = \"upsert\" or \"insert\"")
        }
    }

    private func check(_ folder: String, _ listing: MemberPattern?, isRemote: Bool) {
        let parts = folder.split(separator: "/")
        func report(_ finding: String, help: String) {
            table.problems.report(table.path.appending(key.entry.name).appending("move"), finding, help: help)
        }
        if parts.isEmpty || parts.contains(where: { $0 == "." || $0 == ".." })
            || folder.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        {
            report("'\(folder)' is not the path of a folder", help: "write \"done/\"")
        } else if folder.utf8.count > MemberPattern.lengthLimit {
            report("has more than \(MemberPattern.lengthLimit) bytes", help: "name a folder with a shorter path")
        } else if isRemote, folder.hasPrefix("/") {
            report("'\(folder)' is absolute", help: "name a folder within that of the files, such as \"done/\"")
        } else if let listing, !folder.hasPrefix("/"), !parts.contains(where: { $0.hasPrefix(".") }),
            listing.mayMatch(below: parts.joined(separator: "/"))
        {
            report(
                "files in '\(folder)' match '\(listing.text)', and would be read again",
                help: "write \".done/\", as names that begin with a dot are skipped, or an absolute path")
        }
    }
}
