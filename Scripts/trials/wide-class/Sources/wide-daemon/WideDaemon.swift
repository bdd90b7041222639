import GRDB
import Tributary

/// Every command of Tributary, with a class that reads elements of a hundred attributes.
@main
struct WideDaemon: TributaryApp {
    static let parsers: [Parser] = [.class(WideParser.self)]

    static func registerMigrations(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("wide") { db in
            let columns = (0..<124).map { number in "attr\(String("00\(number)".suffix(3))) TEXT" }
            try db.execute(sql: "CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))")
        }
    }
}
