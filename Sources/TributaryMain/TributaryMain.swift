import GRDB
import Tributary

/// The program `tributary`: every command, with the parsers for formats that everybody meets.
@main
struct TributaryMain: TributaryApp {
    static let parsers: [FeedParser.Type] = []
}
