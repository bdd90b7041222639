import Tributary
import TributaryParsers

/// The program `tributary`: every command, with the parsers for formats that everybody meets.
@main
struct TributaryMain: TributaryApp {
    static let parsers: [FeedParser.Type] = [EurofxrefParser.self, SitemapParser.self, SyndicationParser.self]
}
