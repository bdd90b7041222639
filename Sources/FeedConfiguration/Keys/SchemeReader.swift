import Foundation

/// Reads what depends on the scheme of a request's address: which keys have an effect, and which are required.
struct SchemeReader {
    let table: DeclarationReader
    private let keys = RequestKeys.all

    /// Reports keys without an effect, and takes what a file server is not sent out of the request.
    func read(_ request: inout RequestDeclaration) {
        let target = request.url.isReference ? nil : try? RequestAddress(request.url.probe)
        switch target {
        case .server(let address): read(&request, at: address)
        case .bucket: readBucket(&request)
        case .web, .file, nil:
            if table.has(keys.knownHosts) { table.report(keys.knownHosts, "requires an sftp: address") }
            switch request.authentication {
            case .ssh: table.report("auth", "'ssh' requires an sftp: address")
            case .s3: reportBucket()
            case .basic(_, _, true): reportCleartext()
            case .basic, .bearer, .oauth2, nil: break
            }
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

    private func readBucket(_ request: inout RequestDeclaration) {
        dropHTTP(&request, table.present(keys.knownHosts), with: "s3")
        request.acceptStatus = [200]
        switch request.authentication {
        case .s3: break
        case .basic, .bearer, .oauth2, .ssh: table.report("auth", "an s3: address takes 's3'")
        case nil: request.authentication = .s3(BucketAccess())
        }
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
        check(request.authentication, scheme)
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

    private func check(_ authentication: Authentication?, _ scheme: RemoteAddress.Scheme) {
        switch authentication {
        case .bearer, .oauth2:
            table.report("auth", "an \(scheme.rawValue): address takes 'basic'" + (scheme == .sftp ? " or 'ssh'" : ""))
        case .s3: reportBucket()
        case .ssh where scheme != .sftp:
            table.report("auth", "'ssh' requires an sftp: address")
        case .basic(let user, let password, let cleartext):
            if cleartext, scheme != .ftp { reportCleartext() }
            if (user.value + password.value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                table.report("auth", "the user or the password has a control character in it, such as a line feed")
            }
        case .ssh, nil: break
        }
    }

    private func reportCleartext() { table.report("auth", "'cleartext' requires an ftp: address") }

    private func reportBucket() { table.report("auth", "'s3' requires an s3: address") }

    private func checkAge(_ request: RequestDeclaration, _ target: RequestAddress?) {
        guard table.has(keys.newerThan) else { return }
        // A file's address may be one of a folder.
        let isFolder = target?.isFolder == true || RequestAddress.kind(of: request.url.value) == .file
        guard request.documents == nil || !isFolder else { return }
        table.report(
            keys.newerThan, "requires a folder's address: with a '*' in 'url', or with 'documents'")
    }
}
