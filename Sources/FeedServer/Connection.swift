import Foundation

/// One client's connection: requests answered one after another until it hangs up.
struct Connection: Sendable {
    let descriptor: Int32
    let folder: String
    let hasValidators: Bool

    func serve() {
        defer { close(descriptor) }
        while let head = readHead() {
            let lines = head.components(separatedBy: "\r\n")
            let path = lines[0].split(separator: " ").dropFirst().first.map { $0.prefix { $0 != "?" } } ?? "/"
            let tag = lines.first { $0.lowercased().hasPrefix("if-none-match:") }?
                .drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)
            guard answer(path: String(path), tag: tag) else { return }
        }
    }

    private func readHead() -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Returns: whether the client is still there.
    private func answer(path: String, tag: String?) -> Bool {
        let file = open(folder + "/" + (path.split(separator: "/").last.map(String.init) ?? ""), O_RDONLY)
        guard file >= 0 else { return send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") }
        defer { close(file) }
        var status = stat()
        fstat(file, &status)
        let current = "\"\(status.st_mtim.tv_sec)-\(status.st_mtim.tv_nsec)-\(status.st_size)\""
        if hasValidators, tag == current { return send("HTTP/1.1 304 Not Modified\r\nETag: \(current)\r\n\r\n") }
        let validators = hasValidators ? "ETag: \(current)\r\n" : ""
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: \(status.st_size)\r\n\(validators)\r\n"
        guard send(head) else { return false }
        var sent = 0
        while sent < status.st_size {
            guard sendfile(descriptor, file, nil, status.st_size - sent) > 0 else { return false }
            sent = Int(lseek(file, 0, SEEK_CUR))
        }
        return true
    }

    private func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return write(descriptor, bytes, bytes.count) == bytes.count
    }
}
