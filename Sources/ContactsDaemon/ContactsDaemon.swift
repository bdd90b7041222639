import GRDB
import Tributary

/// An example of a user's program: parser classes, a schema, and every command of Tributary.
@main
struct ContactsDaemon: TributaryApp {
    static let parsers: [Parser] = [.class(CompaniesParser.self), .class(ContactsParser.self)]

    static func registerMigrations(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("contacts") { db in
            try db.execute(
                sql: """
                    CREATE TABLE company (
                        id TEXT PRIMARY KEY,
                        name TEXT NOT NULL
                    );
                    CREATE TABLE contact (
                        email TEXT PRIMARY KEY,
                        firstName TEXT,
                        lastName TEXT,
                        lastNameInitial TEXT,
                        company TEXT REFERENCES company(id),
                        age INTEGER,
                        balance REAL,
                        updated TEXT
                    );
                    """)
        }
    }
}
