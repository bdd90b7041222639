import Foundation

/// The place of the main store.
public enum StoreLocation: Sendable, Equatable {
    /// The absolute path of an SQLite file.
    case file(String)
    /// A connection string of libpq. It may hold a password, and is never shown.
    case server(String)
}

extension StoreLocation {
    /// Reads a path, or a connection string: a URI, or keywords and values. A file whose name looks like the latter is
    /// meant by `./host=x`.
    package init(argument: String) {
        let word = argument.prefix { $0.isASCII && ($0.isLowercase || $0 == "_") }
        let isKeyword = !word.isEmpty && argument[word.endIndex...].drop { $0 == " " }.first == "="
        if isKeyword || argument.hasPrefix("postgres://") || argument.hasPrefix("postgresql://") {
            self = .server(argument)
        } else {
            self = .file(URL(fileURLWithPath: argument).standardizedFileURL.path)
        }
    }

    /// True if both are files, or both on servers: the same SQL is written for both.
    package func isSameKind(as other: StoreLocation) -> Bool {
        switch (self, other) {
        case (.file, .file), (.server, .server): true
        case (.file, .server), (.server, .file): false
        }
    }

    /// The store whose SQL is understood there.
    package var kind: String {
        switch self {
        case .file: "SQLite"
        case .server: "PostgreSQL"
        }
    }
}
