import FeedConfiguration
import FeedModel
import Foundation

/// Deletes or moves files of a server's folder after their commit.
struct RemoteFinisher {
    let action: FileAction
    let connection: CurlConnection
    let request: PreparedRequest
    /// The address of the folder, or of a file in it.
    let address: RemoteAddress

    /// - Parameters:
    ///   - files: the files as they were listed.
    ///   - check: throws to end the work.
    /// - Throws: ``FetchError`` if the server refuses; the errors of `check`.
    func finish(_ files: [RemoteListing.File], check: () throws -> Void) throws {
        var isPrepared = false
        for file in files {
            try check()
            do {
                guard
                    try isThere(
                        file.path, in: [], check, where: { $0.size == file.size && $0.modified == file.modified })
                else { continue }
                guard case .move(let target) = action else {
                    try run([command("DELE", "rm", [path(file.path)])], check)
                    continue
                }
                let folder = target.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
                if !isPrepared {
                    let parents = folder.indices.map { Array(folder[...$0]) }
                    try run(parents.map { Array("*".utf8) + command("MKD", "mkdir", [path($0)]) }, check)
                    isPrepared = true
                }
                try move(file, to: folder, check)
            } catch  where error is CurlFailure || error is FetchError {
                throw FetchError(remote: error, to: request, at: address).on(
                    action.failure(on: "'\(MemberPattern.name(of: file.path))'"))
            }
        }
    }

    private func move(
        _ file: RemoteListing.File, to folder: [[UInt8]], _ check: () throws -> Void
    ) throws {
        for name in [file.path, SourceFiles.otherName(file.path, modified: file.modified)] {
            guard try !isThere(name, in: folder, check) else { continue }
            let (old, new) = (path(file.path), path(folder + [name]))
            return try run(
                address.scheme == .sftp
                    ? [command("", "rename", [old, new])] : [command("RNFR", "", [old]), command("RNTO", "", [new])],
                check)
        }
        throw SourceFiles.taken
    }

    /// Returns true if there is a file of a name, and it is the one that is meant.
    private func isThere(
        _ name: [UInt8], in folder: [[UInt8]], _ check: () throws -> Void,
        where isMeant: (RemoteStatus) -> Bool = { _ in true }
    ) throws -> Bool {
        do {
            try connection.run(.status, of: address.folderAddress(of: folder + [name]), check: check)
            return isMeant(RemoteStatus(connection, address))
        } catch let error as CurlFailure where error.isMissing {
            return false
        }
    }

    private func run(_ commands: [[UInt8]], _ check: () throws -> Void) throws {
        try connection.run(.commands(commands), of: address.folderAddress(of: []), check: check)
    }

    /// Returns a command of FTP, or of libcurl's for SFTP, whose arguments are in quotes.
    private func command(_ ftp: String, _ sftp: String, _ paths: [[UInt8]]) -> [UInt8] {
        guard address.scheme == .sftp else { return Array("\(ftp) ".utf8) + (paths.first ?? []) }
        return paths.reduce(Array(sftp.utf8)) { command, path in
            let escaped = path.flatMap {
                [UInt8(ascii: "\""), UInt8(ascii: "\\")].contains($0) ? [UInt8(ascii: "\\"), $0] : [$0]
            }
            return command + Array(" \"".utf8) + escaped + Array("\"".utf8)
        }
    }

    private func path(_ name: [UInt8]) -> [UInt8] { path([name]) }

    /// Returns a path in the folder: whole for SFTP, relative to the folder for FTP.
    private func path(_ names: [[UInt8]]) -> [UInt8] {
        let relative = Array(names.joined(separator: Array("/".utf8)))
        return address.scheme == .sftp ? address.folderPath + relative : relative
    }
}
