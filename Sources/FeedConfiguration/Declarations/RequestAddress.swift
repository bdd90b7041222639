package import FeedModel
package import Foundation

/// The address of a request, by the kind of its scheme. A new kind is a case here, and a fetcher.
package enum RequestAddress: Sendable, Equatable {
    /// `http:` and `https:`.
    case web(URL)
    case file(FileAddress)
    case server(RemoteAddress)
    case bucket(BucketAddress)

    package enum Kind: Sendable {
        case web, file, server, bucket
    }

    /// Returns the kind that the scheme of a text names; `web` for any other text.
    package static func kind(of text: String) -> Kind {
        if FileAddress.isFile(text) { return .file }
        if BucketAddress.isBucket(text) { return .bucket }
        return RemoteAddress.isRemote(text) ? .server : .web
    }

    /// - Parameter access: the store of an `s3:` address.
    /// - Throws: ``Finding``.
    package init(_ text: String, in access: BucketAccess = BucketAccess()) throws(Finding) {
        switch Self.kind(of: text) {
        case .web: self = .web(try WebAddress(text, others: ["s3", "sftp", "ftps", "ftp", "file"]).url)
        case .file: self = .file(try FileAddress(text))
        case .server: self = .server(try RemoteAddress(text))
        case .bucket: self = .bucket(try BucketAddress(text, access))
        }
    }

    /// The address to which a request is sent.
    package var url: URL {
        switch self {
        case .web(let url): url
        case .file(let file): URL(fileURLWithPath: file.path)
        case .server(let server): server.url
        case .bucket(let bucket): bucket.url
        }
    }

    /// The pattern of the files' names; nil for an address without `*`.
    package var pattern: MemberPattern? { listing.pattern }

    /// True if the address itself shows that it is one of a folder. That of a folder of this machine may lack the `/`.
    package var isFolder: Bool { listing.isFolder }

    private var listing: (pattern: MemberPattern?, isFolder: Bool) {
        switch self {
        case .web: (nil, false)
        case .file(let file): (file.pattern, file.isFolder)
        case .server(let server): (server.pattern, server.isFolder)
        case .bucket(let bucket): (bucket.pattern, bucket.isFolder)
        }
    }

    /// True for the address of a folder, also of one on this machine that only the file system shows to be one.
    package var namesFolder: Bool {
        guard case .file(let file) = self, !file.isFolder else { return isFolder }
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// True if the names of a folder's files include those of subfolders.
    package var listsSubfolders: Bool {
        switch self {
        case .file, .bucket: true
        case .web, .server: false
        }
    }
}
