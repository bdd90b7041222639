import GRDB
public import Tributary

/// Parses the euro's reference rates of the European Central Bank, daily or historical → `rate`.
///
/// ```xml
/// <Cube><Cube time="2025-05-16"><Cube currency="USD" rate="1.1194"/>…</Cube></Cube>
/// ```
public final class EurofxrefParser: FeedParser {
    override public class var tables: [String] { ["rate"] }

    override public class var schema: String {
        """
        CREATE TABLE IF NOT EXISTS rate (
            day TEXT NOT NULL,
            currency TEXT NOT NULL,
            value DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (day, currency)
        );
        """
    }

    /// The day of the open `Cube` that names one, and the depth of that element.
    private var day: String?
    private var dayDepth = 0

    override public func didStartElement() throws {
        if depth == 1, localName != "Envelope" { throw UnexpectedRoot(element, expected: "Envelope") }
        guard localName == "Cube" else { return }
        if let time = attributes["time"] { (day, dayDepth) = (time, depth) }
        guard let currency = attributes["currency"] else { return }
        var rate = Rate(day: day, currency: currency)
        bind(&rate.value, attribute: "rate")
        try context.insert(rate)
    }

    override public func didEndElement() {
        if depth == dayDepth { (day, dayDepth) = (nil, 0) }
    }
}

/// The worth of one euro on a day: a row of `rate`.
struct Rate: FeedRecord {
    var day: String?
    var currency = ""
    var value: Double?
}
