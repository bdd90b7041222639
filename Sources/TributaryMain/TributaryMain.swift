import Tributary
import TributaryParsers

/// The program `tributary`: every command, with the parsers for formats that everybody meets.
@main
struct TributaryMain: TributaryApp {
    static let parsers: [Parser] = [
        .class(EurofxrefParser.self), .class(SitemapParser.self), .class(SyndicationParser.self),
    ]
}
