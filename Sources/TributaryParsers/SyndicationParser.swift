import Foundation
import GRDB
public import Tributary

/// RSS 0.9x, 1.0 and 2.0, and Atom 0.3 and 1.0 → `feed`, `entry`, `enclosure`, `entry_category`.
///
/// Feeds are written by hand and by old programs, so what only a reader sees is taken as it comes: a date that is none
/// becomes NULL, an entry without an id is known by its link or title, and a second entry under the id of a first that says
/// something else keeps a row of its own. What breaks XML itself discards the run.
///
/// A feed's own words come first; Dublin Core, iTunes and Media RSS stand in where it says nothing. Texts may be HTML, as
/// their publishers meant them; markup that is written as elements is kept as markup. Links and Atom's ids are resolved
/// against `xml:base` and the document's address; `guid`s are what they are.
///
/// A feed is known by its source, and by its request besides where the source has several: `feed.feed` is `source` or
/// `source/request`, and stays that when its address, `url`, changes. In stores of this parser's first version it was the
/// address. Their tables get the columns that are new, and such a feed keeps its key: the source that has this address takes
/// it over, by writing its name and request into the row, and finds it by these from then on. No row changes its key, so no
/// entry is lost or doubled; what is new in it is NULL until the feed says it again, and `first_seen` stays so.
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
            duration INTEGER,
            first_seen TEXT,
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

    private var feed = Feed()
    /// The feed or the entry that is being described.
    private var draft = RecordDraft(depth: 1)
    /// What the entry lies in, the feed first: some feeds nest items in items.
    private var outerDrafts: [RecordDraft] = []
    /// The person that is being described, in Atom.
    private var person = (name: "", email: "")

    /// When the feed was fetched, in whole seconds, as dates are stored.
    private var fetchedAt = Date.distantPast

    /// The namespaces of the feed's own elements, how markup in them is taken, and the vocabulary of the namespace that was
    /// looked up last.
    private var ownNamespaces: Set<String?> = [nil]
    private var markupRules = MarkupRules()
    private var lastNamespace = (name: "", vocabulary: Vocabulary.other)

    /// What `xml:base` and `xml:lang` say where something is said, outermost first.
    private var scopes: [(depth: Int, base: String?, language: String?)] = []

    /// What the entry under each id says, for ids that a feed uses twice; by the ids' hashes.
    private var digests: [UInt64: UInt64] = [:]
    /// Ids that are remembered. Of later ones that are used twice, the last entry counts.
    private static let rememberedIDs = 200_000

    /// Bytes of what is kept of the feed itself and of the entries that are open, at most, and how many there are.
    private static let keptLimit = 16 << 20
    private var keptOfFeed = 0
    private var keptOfEntries = 0

    /// Authors of one entry or feed, at most; further ones are left out.
    private static let authorLimit = 50

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

    /// The first of the languages for whose readers the response is meant (RFC 9110, section 8.5).
    private var headerLanguage: String? {
        response[header: "Content-Language"]?.split(separator: ",").first.flatMap { String(xmlText: String($0)) }
    }

    // MARK: - The feed's own words

    private func didStartCore() throws {
        switch localName {
        case "item", "entry": try beginEntry()
        case "channel": if !isInEntry { try beginChannel() }
        case "link":
            guard isChild, let address = trimmed("href") else { return }
            try didFindLink(address)
        case "enclosure":
            guard isChild, let address = trimmed("url") else { return }
            try addEnclosure(address)
        case "author": person = ("", "")
        case "title", "description", "subtitle", "tagline", "summary", "content", "fullitem": if isChild { collect() }
        default: break
        }
    }

    private func didEndCore() throws {
        switch localName {
        case "item", "entry":
            // An entry that lies in markup was never begun.
            if isInEntry, draft.depth == depth { try endEntry() }
        // RSS 1.0 has an image, a text input and the items beside it, which say nothing of the feed.
        case "channel": if !isInEntry, draft.depth == depth { draft.depth = 1 }
        case "name": if isPerson { person.name = try kept(text) }
        case "email": if isPerson { person.email = try kept(text) }
        case "url": if isOfImage { try offer(text, to: &draft.image, rank: 1, base: base, keepsFirst: true) }
        case let name: if isChild { try didEndChild(name) }
        }
    }

    private func didEndChild(_ name: String) throws {
        switch name {
        case "title": try offer(saidText, to: &draft.title, rank: 0)
        case "link": if attributes["href"] == nil { try didFindLink(text) }
        case "guid": try didFindGUID()
        case "id": try offer(text, to: &draft.id, rank: 0, base: base)
        case "description", "subtitle", "tagline": try describe(name)
        case "summary": if isInEntry { try describe(name) }
        case "content": if isInEntry { try offer(saidText, to: &draft.content, rank: 0) }
        case "fullitem": try offer(saidText, to: &draft.content, rank: 1)
        case "language": try offer(text, to: &draft.language, rank: 0)
        case "author": try addAuthor(person.name.isEmpty && person.email.isEmpty ? text : named(person), rank: 0)
        case "managingEditor": try addAuthor(text, rank: 0)
        case "logo": try offer(text, to: &draft.image, rank: 1, base: base)
        case "icon": try offer(text, to: &draft.image, rank: 2, base: base)
        case "category": try addCategory(trimmed("term") ?? text, attributes["scheme"] ?? attributes["domain"])
        case "pubDate", "published", "issued":
            setDate(&draft.published, rank: 0)
            // A feed that says only this has changed then.
            if !isInEntry { setDate(&draft.updated, rank: 2) }
        case "created": setDate(&draft.published, rank: 2)
        case "updated", "modified", "lastBuildDate": setDate(&draft.updated, rank: 0)
        default: break
        }
    }

    // MARK: - Words that stand in

    private func didEndDublinCore() throws {
        switch localName {
        case "title": try offer(saidText, to: &draft.title, rank: 1)
        case "description": try offer(saidText, to: &draft.description, rank: 1)
        case "creator", "author": try addAuthor(text, rank: 1)
        case "language": try offer(text, to: &draft.language, rank: 1)
        case "subject": try addCategory(text, nil)
        case "date": setDate(&draft.updated, rank: 1)
        default: break
        }
    }

    private func didEndTerm() {
        switch localName {
        case "issued": setDate(&draft.published, rank: 1)
        case "created": setDate(&draft.published, rank: 2)
        case "modified": setDate(&draft.updated, rank: 1)
        default: break
        }
    }

    private func didEndITunes() throws {
        switch localName {
        case "title": try offer(text, to: &draft.title, rank: 2)
        case "summary": try offer(text, to: &draft.description, rank: 2)
        case "subtitle": try offer(text, to: &draft.description, rank: 3)
        case "author": try addAuthor(text, rank: 2)
        case "duration": if let seconds = Self.seconds(text) { draft.duration = seconds }
        default: break
        }
    }

    private func didEndMedia() throws {
        switch localName {
        case "title": try offer(text, to: &draft.title, rank: 3, keepsFirst: true)
        case "description": try offer(text, to: &draft.description, rank: 4, keepsFirst: true)
        default: break
        }
    }

    /// `3723`, `1:02:03` and `62:03`.
    private static func seconds(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 3 else { return nil }
        var seconds = 0
        for part in parts {
            guard let value = Double(xmlText: String(part)), (0..<1e9).contains(value) else { return nil }
            seconds = seconds * 60 + Int(value)
        }
        return seconds
    }

    // MARK: - Where an element stands

    private var isInEntry: Bool { !outerDrafts.isEmpty }

    /// Whether it says something of the entry, or of the feed. A channel's image and text input have titles and links, too.
    private var isChild: Bool {
        let depth = depth
        return depth == draft.depth + 1 || !isInEntry && depth == 2
    }

    private var isChildOfMedia: Bool {
        isInEntry && (depth == draft.depth + 1 || depth == draft.depth + 2 && parent?.hasSuffix(":group") == true)
    }

    private var isPerson: Bool { depth == draft.depth + 2 && parent.map(Self.local) == "author" }

    /// In RSS it lies in the channel, in RSS 1.0 beside it.
    private var isOfImage: Bool {
        !isInEntry && (depth == draft.depth + 2 || depth == 3) && parent.map(Self.local) == "image"
    }

    private static func local(_ name: String) -> Substring {
        name.lastIndex(of: ":").map { name[$0...].dropFirst() } ?? name[...]
    }

    private var vocabulary: Vocabulary {
        guard let namespace else { return .core }
        if namespace == lastNamespace.name { return lastNamespace.vocabulary }
        let vocabulary = ownNamespaces.contains(namespace) ? .core : Vocabulary(namespace: namespace)
        lastNamespace = (namespace, vocabulary)
        return vocabulary
    }

    /// What the elements that hold this one say for all that is in it (XML Base; XML 1.0, section 2.12).
    private func openScope() {
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

    /// An attribute's value without white space at either end.
    private func trimmed(_ attribute: String) -> String? { attributes[attribute].flatMap { String(xmlText: $0) } }

    private var base: String? { scopes.last?.base ?? response.baseURL }

    // MARK: - Records

    private func beginFeed() throws {
        guard ["rss", "RDF", "feed"].contains(localName) else {
            throw UnexpectedRoot(element, expected: "rss, RDF or feed")
        }
        let format =
            switch localName {
            case "RDF": "rss1"
            case "feed": "atom"
            default: "rss"
            }
        // Whatever namespace a feed puts itself in, its elements are what their names say.
        if format != "rss1" { ownNamespaces.insert(namespace) }
        feed = Feed(
            feed: try key(), format: format, source: response.source, request: response.request,
            url: response.requestedURL)
        ownNamespacesChanged()
        fetchedAt = Date(timeIntervalSince1970: response.fetchedAt.timeIntervalSince1970.rounded(.down))
        try offerLanguage()
    }

    private func ownNamespacesChanged() {
        lastNamespace.name = ""
        markupRules.limit = Self.keptLimit
        markupRules.plainNamespaces = ownNamespaces.union([Vocabulary.xhtmlNamespace])
    }

    /// What the feed is known by: as it was, or by its source and request.
    private func key() throws -> String {
        let (source, request) = (response.source, response.request)
        let isOurs = Column("source") == source && Column("request") == request
        if let known = try context.fetchStored(Feed.filter(isOurs)) { return known.feed }
        let isFormer = Column("feed") == response.requestedURL && Column("source") == nil
        if let former = try context.fetchStored(Feed.filter(isFormer)) { return former.feed }
        return response.isOnlyRequest ? source : source + "/" + request
    }

    private func beginChannel() throws {
        if depth == 2, ownNamespaces.insert(namespace).inserted { ownNamespacesChanged() }
        draft.depth = depth
        try offerLanguage()
    }

    private func beginEntry() throws {
        outerDrafts.append(draft)
        draft = RecordDraft(depth: depth)
        try keep(1000)
        if let id = attributes["rdf:about"] { try offer(id, to: &draft.id, rank: 1) }
        try offerLanguage()
    }

    private func endEntry() throws {
        let draft = draft
        self.draft = outerDrafts.removeLast()
        if !isInEntry { keptOfEntries = 0 }
        var entry = Entry(
            feed: feed.feed, id: draft.id.address ?? "", title: draft.title.text, link: draft.link.address,
            author: draft.author,
            published: draft.published?.date, updated: draft.updated?.date, summary: draft.description.text,
            content: draft.content.text, language: draft.language.text, image: draft.image.address,
            duration: draft.duration, firstSeen: fetchedAt)
        // The link as it is written: it stays the same when the feed is moved.
        if entry.id.isEmpty { entry.id = draft.link.text ?? entry.title ?? "entry at line \(line)" }
        let digest = entry.digest
        let id = Entry.hash(entry.id)
        if let first = digests[id] {
            if first != digest { entry.id += "#" + String(digest, radix: 16) }
        } else if digests.count < Self.rememberedIDs {
            digests[id] = digest
        }
        try context.insert(entry)
        for var enclosure in draft.enclosures {
            enclosure.entry = entry.id
            try context.insert(enclosure)
        }
        for var category in draft.categories {
            category.entry = entry.id
            try context.insert(category)
        }
    }

    // MARK: - What elements say

    /// The content of the element that begins is taken as markup, if it has elements in it.
    private func collect() {
        var rules = markupRules
        // The div is none of the content (RFC 4287, section 3.1.1.3).
        if attributes["type"] == "xhtml" { rules.wrapper = "div" }
        collectMarkup(rules)
    }

    /// What the element that ends says: its markup, its text, or what its text encodes.
    private var saidText: String {
        if let markup { return markup }
        let text = text
        guard !attributes.isEmpty, !text.isEmpty, isEncoded, let data = Data(xmlText: text) else { return text }
        return String(data: data, encoding: .utf8).flatMap { String(xmlText: $0) } ?? text
    }

    /// Whether the text is base 64: by `mode` in Atom 0.3, by a media type that is neither text nor XML in 1.0 (RFC 4287,
    /// section 4.1.3.3).
    private var isEncoded: Bool {
        if let mode = attributes["mode"] { return mode == "base64" }
        guard feed.format == "atom", let type = attributes["type"]?.lowercased() else { return false }
        return type.contains("/") && !type.hasPrefix("text/") && !type.hasSuffix("xml")
    }

    /// What a feed says first of itself stands; of an entry, what it says last, if it says anything.
    private func offer(
        _ text: String, to field: inout RankedText, rank: Int, base: String? = nil, keepsFirst: Bool = false
    ) throws {
        guard field.takes(text, rank: rank, keepsFirst: keepsFirst || !isInEntry) else { return }
        try keep(text.utf8.count)
        field.set(text, rank: rank, base: base)
    }

    /// An item that has both a description and a summary has the second for its content, unless it has one.
    private func describe(_ name: String) throws {
        if isInEntry, let first = draft.descriptionElement, first != name {
            return try offer(saidText, to: &draft.content, rank: 2)
        }
        draft.descriptionElement = name
        try offer(saidText, to: &draft.description, rank: 0)
    }

    private func offerLanguage() throws {
        guard let language = scopes.last?.language, !language.isEmpty else { return }
        try offer(language, to: &draft.language, rank: 2)
    }

    /// A `guid` is the address of the entry, too, unless it says that it is not (RSS 2.0); many that say nothing are none.
    private func didFindGUID() throws {
        let guid = text
        try offer(guid, to: &draft.id, rank: 0)
        let isPermaLink = attributes["isPermaLink"]?.lowercased()
        guard isPermaLink != "false", !guid.isEmpty else { return }
        let isAddress = guid.hasPrefix("http://") || guid.hasPrefix("https://")
        if isAddress || isPermaLink == "true" { try offer(guid, to: &draft.link, rank: 2, base: base) }
    }

    private func didFindLink(_ address: String) throws {
        switch attributes["rel"]?.lowercased() ?? "" {
        case "", "alternate", "none":
            let type = attributes["type"]?.lowercased() ?? ""
            let rank = type.isEmpty || type.contains("html") ? 0 : 1
            try offer(address, to: &draft.link, rank: rank, base: base)
        case "enclosure":
            try addEnclosure(address)
        default:
            break
        }
    }

    private func addEnclosure(_ address: String) throws {
        guard isInEntry, !address.isEmpty else { return }
        let type = attributes["type"]
        let address = URIReference.resolve(address, against: base)
        try keep(address.utf8.count + (type?.utf8.count ?? 0) + 200)
        draft.enclosures.append(
            Enclosure(
                feed: feed.feed, url: address, type: type, length: attributes["length"].flatMap { Int(xmlText: $0) }))
    }

    private func addCategory(_ term: String, _ scheme: String?) throws {
        guard isInEntry, !term.isEmpty else { return }
        let label = attributes["label"]
        try keep(term.utf8.count + (scheme?.utf8.count ?? 0) + (label?.utf8.count ?? 0) + 200)
        draft.categories.append(
            Category(feed: feed.feed, term: term, scheme: scheme ?? "", label: label))
    }

    /// Several authors of one vocabulary are all named.
    private func addAuthor(_ author: String, rank: Int) throws {
        guard !author.isEmpty, rank <= draft.authorRank else { return }
        if rank < draft.authorRank { draft.authors = [] }
        guard draft.authors.count < Self.authorLimit, !draft.authors.contains(author) else { return }
        draft.authors.append(try kept(author))
        draft.authorRank = rank
    }

    /// As RSS writes people, the other way round: `Ines (ines@example.org)`.
    private func named(_ person: (name: String, email: String)) -> String {
        if person.name.isEmpty { return person.email }
        return person.email.isEmpty ? person.name : "\(person.name) (\(person.email))"
    }

    private func setDate(_ field: inout (date: Date, rank: Int)?, rank: Int) {
        guard rank <= field?.rank ?? .max, let date = LooseDate.date(text) else { return }
        field = (date, rank)
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
}
