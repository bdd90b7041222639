import Foundation
import GRDB
public import Tributary

/// Parses RSS 0.9x, 1.0 and 2.0, and Atom 0.3 and 1.0 → `feed`, `entry`, `enclosure`, `entry_category`.
///
/// Feeds are written by hand and by old programs, so mistakes in content are tolerated. An invalid date becomes NULL.
/// An entry without an id is known by its link or title. A second entry with the id of an earlier one but other content
/// has a row of its own. Errors in the XML itself discard the run.
///
/// A feed's own elements come first; Dublin Core, iTunes and Media RSS are used where it has none. Texts may be HTML,
/// as their publishers meant them. Markup written as elements is kept as markup. Links and Atom's ids are resolved
/// against `xml:base` and the document's address; `guid`s are kept as they are.
///
/// A feed is known by its source, and also by its request where the source has several: `feed.feed` is `source` or
/// `source/request`, and stays the same when its address, `url`, changes.
public final class SyndicationParser: FeedParser {
    override public class var version: Int { 2 }

    override public class var tables: [String] { ["feed", "entry", "enclosure", "entry_category"] }

    override public class var insertOnly: [String: Set<String>] { ["entry": ["first_seen"]] }

    override public class var schema: String {
        """
        CREATE TABLE IF NOT EXISTS feed (
            feed TEXT PRIMARY KEY NOT NULL,
            format TEXT NOT NULL,
            title TEXT,
            link TEXT,
            description TEXT,
            language TEXT,
            updated TEXT,
            source TEXT,
            request TEXT,
            url TEXT,
            id TEXT,
            author TEXT,
            image TEXT,
            published TEXT
        );
        CREATE INDEX IF NOT EXISTS feed_source_request ON feed (source, request);
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
            language TEXT,
            image TEXT,
            duration BIGINT,
            first_seen TEXT,
            PRIMARY KEY (feed, id)
        );
        CREATE TABLE IF NOT EXISTS enclosure (
            feed TEXT NOT NULL,
            entry TEXT NOT NULL,
            url TEXT NOT NULL,
            type TEXT,
            length BIGINT,
            PRIMARY KEY (feed, entry, url)
        );
        CREATE TABLE IF NOT EXISTS entry_category (
            feed TEXT NOT NULL,
            entry TEXT NOT NULL,
            term TEXT NOT NULL,
            scheme TEXT NOT NULL,
            label TEXT,
            PRIMARY KEY (feed, entry, term, scheme)
        );
        """
    }

    var feed = Feed()
    /// The current feed or entry.
    var draft = RecordDraft(depth: 1)
    /// The drafts around the current entry, the feed first. Some feeds nest items in items.
    var outerDrafts: [RecordDraft] = []
    /// The current person, in Atom.
    var person = (name: "", email: "")

    /// The time at which the feed was fetched, in whole seconds, as dates are stored.
    var fetchedAt = Date.distantPast

    /// The namespaces of the feed's own elements, the rules for markup in them, and the vocabulary of the namespace
    /// that was looked up last.
    var ownNamespaces: Set<String?> = [nil]
    var markupRules = MarkupRules()
    var lastNamespace = (name: "", vocabulary: Vocabulary.other)

    /// The values of `xml:base` and `xml:lang` in the open elements, outermost first.
    var scopes: [(depth: Int, base: String?, language: String?)] = []

    /// The digests of entries by the hashes of their ids, to notice ids that a feed uses twice.
    var digests: [UInt64: UInt64] = [:]
    /// The most ids that are remembered. Where a later id is used twice, the last entry counts.
    static let rememberedIDs = 200_000

    /// The most bytes that are kept of the feed itself and of the open entries, and the bytes kept so far.
    static let keptLimit = 16 << 20
    var keptOfFeed = 0
    var keptOfEntries = 0

    /// The most authors of one entry or feed. Further ones are left out.
    static let authorLimit = 50

    override public func didStartElement() throws {
        openScope()
        if depth == 1 { return try beginFeed() }
        switch vocabulary {
        case .core: try didStartCore()
        case .dublinCore:
            if isChild, localName == "title" || localName == "description" { collect() }
        case .content:
            if isChild, localName == "encoded" { collect() }
        case .xhtml:
            if isChild, localName == "body" { collect() }
        case .itunes:
            guard isChild, localName == "image", let address = trimmed("href") else { return }
            try offer(address, to: &draft.image, rank: 0, base: base)
        case .media:
            guard localName == "thumbnail", isChildOfMedia, let address = trimmed("url") else { return }
            try offer(address, to: &draft.image, rank: 1, base: base, keepsFirst: true)
        case .terms, .google, .other: break
        }
    }

    override public func didEndElement() throws {
        switch vocabulary {
        case .core: try didEndCore()
        case .dublinCore: if isChild { try didEndDublinCore() }
        case .terms: if isChild { didEndTerm() }
        case .content: if isChild, localName == "encoded" { try offer(saidText, to: &draft.content, rank: 0) }
        case .xhtml: if isChild, localName == "body" { try offer(saidText, to: &draft.content, rank: 1) }
        case .itunes: if isChild { try didEndITunes() }
        case .media: if isChildOfMedia { try didEndMedia() }
        case .google:
            if isChild, localName == "id", draft.id.text ?? "" == "" { try offer(text, to: &draft.id, rank: 0) }
        case .other: break
        }
        if scopes.last?.depth == depth { scopes.removeLast() }
    }

    override public func didEndDocument() throws {
        feed.title = draft.title.text
        feed.link = draft.link.address
        feed.description = draft.description.text
        feed.language = draft.language.text ?? headerLanguage
        feed.id = draft.id.address
        feed.author = draft.author
        feed.image = draft.image.address
        feed.published = draft.published?.date
        feed.updated = draft.updated?.date
        try context.insert(feed)
    }

    /// The first language of the response's intended readers (RFC 9110, section 8.5).
    var headerLanguage: String? {
        response[header: "Content-Language"]?.split(separator: ",").first.flatMap { String(xmlText: String($0)) }
    }

    // MARK: - Where an element stands

    var isInEntry: Bool { !outerDrafts.isEmpty }

    /// True if the element describes the entry or the feed. A channel's image and text input have titles and links too.
    var isChild: Bool {
        let depth = depth
        return depth == draft.depth + 1 || !isInEntry && depth == 2
    }

    var isChildOfMedia: Bool {
        isInEntry && (depth == draft.depth + 1 || depth == draft.depth + 2 && isWithin("group", of: .media))
    }

    var isPerson: Bool { depth == draft.depth + 2 && isWithin("author", of: .core) }

    /// True in a feed's image. In RSS it lies in the channel, in RSS 1.0 beside it.
    var isOfImage: Bool {
        !isInEntry && (depth == draft.depth + 2 || depth == 3) && isWithin("image", of: .core)
    }

    private func isWithin(_ name: String, of vocabulary: Vocabulary) -> Bool {
        guard let parent = parentName, parent.local == name else { return false }
        return self.vocabulary(of: parent.namespace) == vocabulary
    }

    var vocabulary: Vocabulary { vocabulary(of: namespace) }

    private func vocabulary(of namespace: String?) -> Vocabulary {
        guard let namespace else { return .core }
        if namespace == lastNamespace.name { return lastNamespace.vocabulary }
        let vocabulary = ownNamespaces.contains(namespace) ? .core : Vocabulary(namespace: namespace)
        lastNamespace = (namespace, vocabulary)
        return vocabulary
    }

    /// Notes the `xml:base` and `xml:lang` of an element, for all that is in it (XML Base; XML 1.0, section 2.12).
    func openScope() {
        guard !attributes.isEmpty else { return }
        let base = attributes["xml:base"]
        let language = attributes["xml:lang"]
        guard base != nil || language != nil else { return }
        scopes.append(
            (
                depth, base.map { URIReference.resolve($0, against: self.base) } ?? scopes.last?.base,
                language?.replacingOccurrences(of: "_", with: "-") ?? scopes.last?.language
            ))
    }

    /// Returns an attribute's value without white space at either end.
    func trimmed(_ attribute: String) -> String? { attributes[attribute].flatMap { String(xmlText: $0) } }

    var base: String? { scopes.last?.base ?? response.baseURL }
}
