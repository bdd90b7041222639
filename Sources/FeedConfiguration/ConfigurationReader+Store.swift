import FeedModel
import Foundation

/// `[store]`: where the store is, and the key of encrypted columns.
extension ConfigurationReader {
    func encryptionKey(_ store: DeclarationReader) -> EncryptionKey? {
        guard let text = store[StoreKeys.all.encryptionKey] else { return nil }
        let key = EncryptionKey(hexadecimal: text)
        if key == nil {
            store.report("encryption_key", "the key is not 32 bytes in hex", help: "`openssl rand -hex 32` makes one")
        }
        return key
    }

    func location(_ store: DeclarationReader) -> StoreLocation {
        let keys = StoreKeys.all
        let path = store[keys.path]
        if let url = store[keys.url]?.value {
            if !url.hasPrefix("postgres://"), !url.hasPrefix("postgresql://"), !url.contains("=") {
                // It may contain a password, and is not shown.
                store.report(
                    "url",
                    "this is not a connection string of PostgreSQL",
                    help: "write postgresql://USER@HOST/DATABASE, or host=… dbname=… "
                        + "user=…")
            }
            return .server(url)
        }
        // The address may contain a password, and is not shown.
        if let path, let scheme = path.range(of: "://"),
            path[..<scheme.lowerBound].allSatisfy({ $0.isLetter || $0.isNumber })
        {
            store.report(
                "path",
                "this is an address, but 'path' names a file", help: "for a store on a server, use 'url'")
        }
        if path?.isEmpty ?? false { store.report("path", "the path is empty", help: "name a file") }
        return .file(absolute(path ?? keys.path.standard))
    }
}
