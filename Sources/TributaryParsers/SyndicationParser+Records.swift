import Foundation
import GRDB
import Tributary

/// Creates the rows of the feed and its entries.
extension SyndicationParser {
    func beginFeed() throws {
        guard ["rss", "RDF", "feed"].contains(localName) else {
            throw UnexpectedRoot(element, expected: "rss, RDF or feed")
        }
        let format =
            switch localName {
            case "RDF": "rss1"
            case "feed": "atom"
            default: "rss"
            }
        // A feed's elements mean what their names say, whatever namespace it uses.
        if format != "rss1" { ownNamespaces.insert(namespace) }
        feed = Feed(
            feed: try key(), format: format, source: response.source, request: response.request,
            url: response.requestedURL)
        ownNamespacesChanged()
        fetchedAt = Date(timeIntervalSince1970: response.fetchedAt.timeIntervalSince1970.rounded(.down))
        try offerLanguage()
    }

    func ownNamespacesChanged() {
        lastNamespace.name = ""
        markupRules.limit = Self.keptLimit
        markupRules.plainNamespaces = ownNamespaces.union([Vocabulary.xhtmlNamespace])
    }

    /// Returns the feed's key: the one it already has in the store, or one made of its source and request.
    func key() throws -> String {
        let (source, request) = (response.source, response.request)
        if let known = try context.fetchStored(Feed.self, key: ["source": source, "request": request]) {
            return known.feed
        }
        return response.isOnlyRequest ? source : source + "/" + request
    }

    func beginChannel() throws {
        if depth == 2, ownNamespaces.insert(namespace).inserted { ownNamespacesChanged() }
        draft.depth = depth
        try offerLanguage()
    }

    func beginEntry() throws {
        outerDrafts.append(draft)
        draft = RecordDraft(depth: depth)
        try keep(1000)
        if let id = attributes["about", namespace: Vocabulary.rdfNamespace] { try offer(id, to: &draft.id, rank: 1) }
        try offerLanguage()
    }

    func endEntry() throws {
        let draft = draft
        self.draft = outerDrafts.removeLast()
        if !isInEntry { keptOfEntries = 0 }
        var entry = Entry(
            feed: feed.feed, id: draft.id.address ?? "", title: draft.title.text, link: draft.link.address,
            author: draft.author,
            published: draft.published?.date, updated: draft.updated?.date, summary: draft.description.text,
            content: draft.content.text, language: draft.language.text, image: draft.image.address,
            duration: draft.duration, firstSeen: fetchedAt)
        // The link as written: it stays the same when the feed moves.
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
}
