import FeedConfiguration
package import XMLStream

/// The feeds of an OPML document (OPML 2.0, "Subscription lists"): each outline with the address of a feed.
package final class SubscriptionList: XMLStreamHandler {
    struct Feed {
        var address: String
        var title: String
    }

    private(set) var feeds: [Feed] = []
    @exclusivity(unchecked) private var isOPML = false

    package override func didStartElement(in stream: XMLStreamParser) throws {
        if stream.depth == 1 { isOPML = stream.name.local.lowercased() == "opml" }
        guard isOPML, stream.name.local == "outline" else { return }
        var texts: [String: String] = [:]
        for (name, value) in stream.attributesOfElement.all { texts[name.local.lowercased()] = value }
        guard let address = texts["xmlurl"], !address.isEmpty else { return }
        let title = [texts["title"], texts["text"]].compactMap(\.self).first { !$0.isEmpty }
        feeds.append(Feed(address: address, title: title ?? address))
    }

    /// Returns a source for each feed with a valid address, each address once; nil without one.
    ///
    /// - Parameters:
    ///   - parser: the name of the parser for the feeds.
    ///   - taken: the names of other sources.
    package func toml(parser: String, taken: Set<String> = []) -> String? {
        var names = UniqueNames(reserved: Set(taken.map { $0.lowercased() }))
        var known: Set<String> = []
        var blocks: [String] = []
        var refused = 0
        for feed in feeds where known.insert(feed.address).inserted {
            guard (try? WebAddress(feed.address)) != nil else {
                refused += 1
                continue
            }
            let name = names.claim(SQLName.snakeCase(feed.title), SourceName.make(of: feed.address), fallback: "feed")
            let key = "sources." + TOMLText.key(name)
            blocks.append(
                """
                [\(key)]
                [[\(key).requests]]
                url = \(TOMLText.string(feed.address))
                parser = \(TOMLText.string(parser))

                """)
        }
        guard !blocks.isEmpty else { return nil }
        let head =
            "# The \(blocks.count) feeds of an OPML document."
            + (refused > 0 ? " \(refused) more have an address that cannot be used." : "") + "\n"
        return head + blocks.joined(separator: "\n")
    }
}
