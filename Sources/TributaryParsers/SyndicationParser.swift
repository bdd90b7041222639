import Foundation
public import Tributary

/// RSS 0.9x, 1.0 and 2.0, and Atom 0.3 and 1.0 → `feed`, `entry`, `enclosure`.
///
/// Feeds are written by hand and by old programs, so what only a reader sees is taken as it comes: a date that is none
/// becomes NULL, an entry without an id is known by its link or title, and a second entry under the id of a first that says
/// something else keeps a row of its own. What breaks XML itself discards the run.
public final class SyndicationParser: FeedParser {
    override public class var tables: [String] { ["feed", "entry", "enclosure"] }

    override public class var schema: String {
        """
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
        """
    }

    private var feed = Feed()
    private var entry = Entry()
    private var enclosures: [Enclosure] = []
    private var isInEntry = false
    /// The entries in which the current one lies: some feeds nest items in items.
    private var outerEntries: [(entry: Entry, enclosures: [Enclosure])] = []

    /// What the entry under each id says, for ids that a feed uses twice; by the ids' hashes.
    private var digests: [UInt64: UInt64] = [:]
    /// Ids that are remembered. Of later ones that are used twice, the last entry counts.
    private static let rememberedIDs = 200_000

    /// Bytes of what is kept of the feed itself and of the entries that are open, at most, and how many there are.
    private static let keptLimit = 16 << 20
    private var keptOfFeed = 0
    private var keptOfEntries = 0

    override public func didStartElement() throws {
        if depth == 1 {
            guard ["rss", "RDF", "feed"].contains(localName) else {
                throw UnexpectedRoot(element, expected: "rss, RDF or feed")
            }
            feed = Feed(feed: response.requestedURL, format: format)
            return
        }
        switch vocabulary {
        case "item", "entry":
            if isInEntry { outerEntries.append((entry, enclosures)) }
            isInEntry = true
            let id = attributes["rdf:about"] ?? ""
            try keep(id.utf8.count + 1000)
            entry = Entry(feed: feed.feed, id: id)
            enclosures = []
        case "link":
            guard let address = attributes["href"] else { return }
            try didFindLink(address, relation: attributes["rel"] ?? "alternate")
        case "enclosure":
            guard let address = attributes["url"] else { return }
            try addEnclosure(address, type: attributes["type"], length: attributes["length"])
        default:
            break
        }
    }

    override public func didEndElement() throws {
        switch vocabulary {
        case "item", "entry":
            guard isInEntry else { return }
            try insert()
            isInEntry = !outerEntries.isEmpty
            if !isInEntry { keptOfEntries = 0 }
            if let outer = outerEntries.popLast() { (entry, enclosures) = outer }
        case "title": if isChildOfRecord { try set(&entry.title, orOfFeed: &feed.title) }
        case "link": if attributes["href"] == nil, isChildOfRecord { try set(&entry.link, orOfFeed: &feed.link) }
        case "guid", "id": if isChildOfEntry { entry.id = try kept(text) }
        case "g:id": if isChildOfEntry, entry.id.isEmpty { entry.id = try kept(text) }
        case "description", "subtitle", "tagline":
            if isChildOfRecord { try set(&entry.summary, orOfFeed: &feed.description) }
        case "summary": if isChildOfEntry { try set(&entry.summary) }
        case "content", "content:encoded": if isChildOfEntry { try set(&entry.content) }
        case "language", "dc:language": if !isInEntry, feed.language == nil { feed.language = try kept(text) }
        case "author", "name", "dc:creator": if isInEntry { try set(&entry.author) }
        case "pubDate", "published", "issued": setDate(&entry.published)
        case "updated", "modified", "lastBuildDate", "dc:date": setDate(&entry.updated)
        default: break
        }
    }

    override public func didEndDocument() throws { try context.insert(feed) }

    // MARK: - What elements mean

    private var format: String {
        switch (localName, namespace) {
        case ("RDF", _): "rss1"
        case ("feed", _): "atom"
        default: "rss"
        }
    }

    /// The element's name, whatever prefix the feed chose: bare for RSS and Atom, with the usual prefix for Dublin Core
    /// and the content module, and empty for what other namespaces add.
    private var vocabulary: String {
        switch namespace {
        case nil, "http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#", "http://purl.org/rss/1.0/",
            "http://my.netscape.com/rdf/simple/0.9/", "http://channel.netscape.com/rdf/simple/0.9/",
            "http://backend.userland.com/rss2":
            localName
        case "http://purl.org/dc/elements/1.1/": "dc:" + localName
        case "http://purl.org/rss/1.0/modules/content/": "content:" + localName
        case "http://base.google.com/ns/1.0": "g:" + localName
        default: ""
        }
    }

    /// A channel's image and text input have titles and links, too.
    private var isChildOfRecord: Bool {
        isChildOfEntry || parent?.hasSuffix("channel") == true || (!isInEntry && depth == 2)
    }

    private var isChildOfEntry: Bool {
        guard isInEntry, let parent else { return false }
        return parent.hasSuffix("item") || parent.hasSuffix("entry")
    }

    /// What a feed says first of itself stands; of an entry, what it says last, if it says anything.
    private func set(_ value: inout String?, orOfFeed feedValue: inout String?) throws {
        if isInEntry {
            try set(&value)
        } else if feedValue == nil {
            feedValue = try kept(text)
        }
    }

    private func set(_ value: inout String?) throws {
        let text = text
        if !text.isEmpty || value == nil { value = try kept(text) }
    }

    private func kept(_ text: String) throws -> String {
        try keep(text.utf8.count)
        return text
    }

    /// Counts what is kept until the entry, or the feed, ends.
    private func keep(_ bytes: Int) throws {
        if isInEntry { keptOfEntries += bytes } else { keptOfFeed += bytes }
        guard keptOfEntries <= Self.keptLimit, keptOfFeed <= Self.keptLimit else {
            throw EntryTooLarge(limit: Self.keptLimit)
        }
    }

    private func setDate(_ value: inout Date?) {
        guard !isInEntry || isChildOfEntry, let date = Date(xmlText: text) else { return }
        if isInEntry {
            value = date
        } else {
            feed.updated = date
        }
    }

    private func didFindLink(_ address: String, relation: String) throws {
        switch relation {
        case "alternate":
            if isInEntry {
                entry.link = try kept(address)
            } else if feed.link == nil {
                feed.link = try kept(address)
            }
        case "enclosure":
            try addEnclosure(address, type: attributes["type"], length: attributes["length"])
        default:
            break
        }
    }

    private func addEnclosure(_ address: String, type: String?, length: String?) throws {
        guard isInEntry else { return }
        try keep(address.utf8.count + (type?.utf8.count ?? 0) + 200)
        enclosures.append(
            Enclosure(feed: feed.feed, url: address, type: type, length: length.flatMap { Int(xmlText: $0) }))
    }

    private func insert() throws {
        if entry.id.isEmpty { entry.id = entry.link ?? entry.title ?? "entry at line \(line)" }
        let digest = entry.digest
        let id = Entry.hash(entry.id)
        if let first = digests[id] {
            if first != digest { entry.id += "#" + String(digest, radix: 16) }
        } else if digests.count < Self.rememberedIDs {
            digests[id] = digest
        }
        try context.insert(entry)
        for var enclosure in enclosures {
            enclosure.entry = entry.id
            try context.insert(enclosure)
        }
    }
}
