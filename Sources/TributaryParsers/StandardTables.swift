public import GRDB

/// The tables that the parsers of this module write.
public enum StandardTables {
    /// Adds the migration that creates them.
    public static func registerMigrations(in migrator: inout DatabaseMigrator) {
        migrator.registerMigration("tributary.parsers.1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS feed (
                        feed TEXT PRIMARY KEY NOT NULL,
                        format TEXT NOT NULL,
                        title TEXT,
                        link TEXT,
                        description TEXT,
                        language TEXT,
                        updated TEXT
                    );
                    CREATE TABLE IF NOT EXISTS entry (
                        feed TEXT NOT NULL,
                        id TEXT NOT NULL,
                        title TEXT,
                        link TEXT,
                        author TEXT,
                        published TEXT,
                        updated TEXT,
                        summary TEXT,
                        content TEXT,
                        PRIMARY KEY (feed, id)
                    );
                    CREATE TABLE IF NOT EXISTS enclosure (
                        feed TEXT NOT NULL,
                        entry TEXT NOT NULL,
                        url TEXT NOT NULL,
                        type TEXT,
                        length INTEGER,
                        PRIMARY KEY (feed, entry, url)
                    );
                    CREATE TABLE IF NOT EXISTS sitemap_url (
                        sitemap TEXT NOT NULL,
                        loc TEXT NOT NULL,
                        kind TEXT NOT NULL,
                        lastmod TEXT,
                        changefreq TEXT,
                        priority REAL,
                        PRIMARY KEY (sitemap, loc)
                    );
                    CREATE TABLE IF NOT EXISTS rate (
                        day TEXT NOT NULL,
                        currency TEXT NOT NULL,
                        value REAL NOT NULL,
                        PRIMARY KEY (day, currency)
                    );
                    """)
        }
    }
}
