import Foundation

/// Reads what depends on the scheme of a request's address: which keys have an effect, and which are required.
struct SchemeReader {
    let table: DeclarationReader
    private let keys = RequestKeys.all

    /// Reports keys without an effect, and takes what a file server is not sent out of the request.
    func read(_ request: inout RequestDeclaration) {
        let target = request.url.isReference ? nil : try? RequestAddress(request.url.probe)
        switch target {
        case .server(let address):
            check(request.authentication, address.scheme.rawValue)
            read(&request, at: address)
        case .bucket:
            check(request.authentication, "s3")
            dropHTTP(&request, table.present(keys.knownHosts), with: "s3")
            request.acceptStatus = [200]
            request.authentication = request.authentication ?? .s3(BucketAccess())
        case .web, .file, nil:
            if table.has(keys.knownHosts) { table.report(keys.knownHosts, "requires an sftp: address") }
            check(request.authentication, nil)
        }
        checkAge(request, target)
    }

    /// Takes what only `http:` is sent out of a request, and reports those of its keys that the request itself has.
    private func dropHTTP(_ request: inout RequestDeclaration, _ others: [any DeclaredKey], with scheme: String) {
        let useless = table.present(
            keys.method, keys.parameters, keys.body, keys.soap, keys.page, keys.acceptStatus, keys.retryUnsafe)
        for key in useless + others { table.report(key, "has no effect with an \(scheme): address") }
        request.method = "GET"
        request.parameters = [:]
        request.body = nil
    }

    private func read(_ request: inout RequestDeclaration, at address: RemoteAddress) {
        let scheme = address.scheme
        let useless: [any DeclaredKey] =
            table.present(keys.headers, keys.proxy)
            + (scheme == .sftp ? table.present(keys.tls) : table.present(keys.knownHosts))
        dropHTTP(&request, useless, with: scheme.rawValue)
        if request.transport.proxy != nil, !table.has(keys.proxy) {
            table.report(
                keys.url,
                "a request to an \(scheme.rawValue): address goes through no proxy, and one is declared for it")
        }
        request.headers = [:]
        guard scheme == .sftp else { return }
        if request.authentication == nil {
            table.report(
                keys.url,
                "an sftp: address needs the user",
                help: "declare 'auth.ssh' with their key, or 'auth.basic' with their password")
        }
        if request.transport.knownHosts == nil, !table.has(keys.knownHosts) {
            table.report(
                keys.url,
                "an sftp: address needs 'known_hosts', the file with the server's host key",
                help: "`ssh-keyscan \(port(address))"
                    + "\(address.url.hostBeforePort)` prints it")
        }
    }

    private func port(_ address: RemoteAddress) -> String { address.url.port.map { "-p \($0) " } ?? "" }

    /// Reports credentials that an address does not take.
    ///
    /// - Parameter scheme: the scheme of an address that HTTP does not serve.
    private func check(_ authentication: Authentication?, _ scheme: String?) {
        let taken = scheme.map { "an \($0): address takes " + (Self.credentials[$0] ?? "'basic'") }
        let problem: String? =
            switch authentication {
            case .s3: scheme == "s3" ? nil : "'s3' requires an s3: address"
            case _? where scheme == "s3": taken
            case .ssh: scheme == "sftp" ? nil : "'ssh' requires an sftp: address"
            case .basic(_, _, true) where scheme != "ftp": "'cleartext' requires an ftp: address"
            case .basic, nil: nil
            case .bearer, .oauth2: taken
            }
        if let problem { table.report(keys.auth, problem) }
        guard scheme != nil, case .basic(let user, let password, _) = authentication,
            (user.value + password.value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return }
        table.report(keys.auth, "the user or the password has a control character in it, such as a line feed")
    }

    /// The credentials that addresses take where it is not only `basic`.
    private static let credentials = ["s3": "'s3'", "sftp": "'basic' or 'ssh'"]

    private func checkAge(_ request: RequestDeclaration, _ target: RequestAddress?) {
        guard table.has(keys.newerThan) else { return }
        // A file's address may be one of a folder.
        let isFolder = target?.isFolder == true || RequestAddress.kind(of: request.url.value) == .file
        guard request.documents == nil || !isFolder else { return }
        table.report(
            keys.newerThan, "requires a folder's address: with a '*' in 'url', or with 'documents'")
    }
}
