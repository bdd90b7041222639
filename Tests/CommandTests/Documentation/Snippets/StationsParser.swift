import GRDB
import Tributary

/// A time of the day as a publisher writes it: `7:30`.
struct TimeOfDay: XMLConvertible, Codable, Equatable {
    var minutes: Int

    init?(xmlText: UnsafeBufferPointer<UInt8>) {
        let parts = String(decoding: xmlText, as: UTF8.self).split(separator: ":").compactMap { Int($0) }
        guard parts.count == 2, (0..<24).contains(parts[0]), (0..<60).contains(parts[1]) else { return nil }
        minutes = parts[0] * 60 + parts[1]
    }

    static var xmlDescription: String { "a time such as 7:30" }
}

struct Station: FeedRecord {
    var id = ""
    var name: String?
    var opens: Int?
    var region: String?
}

/// `<stations region="north"><station id="s1"><name>Harbour</name><opens>7:30</opens></station>…</stations>`
final class StationsParser: FeedParser {
    override class var version: Int { 2 }

    override class var tables: [String] { ["station"] }

    override class var schema: String {
        """
        CREATE TABLE IF NOT EXISTS station (
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT,
            opens BIGINT,
            region TEXT
        );
        """
    }

    private var station = Station()
    private var region: String?
    private var opens: TimeOfDay?

    override func didStartElement() throws {
        switch element {
        case "stations": region = attributes["region"]
        case "station":
            station = Station(region: region)
            opens = nil
            bind(&station.id, attribute: "id")
        default: break
        }
    }

    override func didEndElement() throws {
        switch element {
        case "name": bind(&station.name)
        case "opens": bind(&opens)
        case "station":
            station.opens = opens?.minutes
            try context.insert(station)
        default: break
        }
    }
}
