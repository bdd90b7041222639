import Foundation

/// Reads what depends on the scheme of a request's address: which keys have an effect, and which are required.
struct SchemeReader {
    let table: DeclarationReader
    private let keys = RequestKeys.all

    /// Reports keys without an effect, and takes what a file server is not sent out of the request.
    func read(_ request: inout RequestDeclaration) {
        let address = request.url.isReference ? nil : try? RemoteAddress(request.url.probe)
        if let address {
            read(&request, at: address)
        } else {
            for (key, isThere) in [("known_hosts", table.has(keys.knownHosts)), ("auth", usesKey(request))]
            where isThere {
                table.report(key, "\(key == "auth" ? "'ssh' " : "")requires an sftp: address")
            }
            if case .basic(_, _, true) = request.authentication { reportCleartext() }
        }
        checkAge(request, address)
    }

    private func read(_ request: inout RequestDeclaration, at address: RemoteAddress) {
        let scheme = address.scheme
        var useless: [any DeclaredKey] = table.present(
            keys.method, keys.headers, keys.parameters, keys.body, keys.soap, keys.page, keys.acceptStatus, keys.proxy,
            keys.retryUnsafe)
        useless += scheme == .sftp ? table.present(keys.tls) : table.present(keys.knownHosts)
        for key in useless { table.report(key, "has no effect with an \(scheme.rawValue): address") }
        if request.transport.proxy != nil, !table.has(keys.proxy) {
            table.report(
                keys.url,
                "a request to an \(scheme.rawValue): address goes through no proxy, and one is declared for it")
        }
        request.method = "GET"
        request.headers = [:]
        request.parameters = [:]
        request.body = nil
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

    private func usesKey(_ request: RequestDeclaration) -> Bool {
        if case .ssh = request.authentication { true } else { false }
    }

    private func checkAge(_ request: RequestDeclaration, _ address: RemoteAddress?) {
        guard table.has(keys.newerThan) else { return }
        let isFolder = address?.isFolder ?? FileAddress.isFile(request.url.value)
        guard request.documents == nil || !isFolder else { return }
        table.report(
            keys.newerThan, "requires a folder's address: with a '*' in 'url', or with 'documents'")
    }
}
