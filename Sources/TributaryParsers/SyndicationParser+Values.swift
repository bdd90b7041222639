import Foundation
import Tributary

/// Stores values: ranked, resolved, decoded, and within the limit of kept bytes.
extension SyndicationParser {
    /// Collects the content of the element that begins as markup, if it has elements in it.
    func collect() {
        var rules = markupRules
        // The div is not part of the content (RFC 4287, section 3.1.1.3).
        if attributes["type"] == "xhtml" { rules.wrapper = "div" }
        collectMarkup(rules)
    }

    /// The content of the element that ends: its markup, its text, or its decoded text.
    var saidText: String {
        if let markup { return markup }
        let text = text
        guard !attributes.isEmpty, !text.isEmpty, isEncoded, let data = Data(xmlText: text) else { return text }
        return String(data: data, encoding: .utf8).flatMap { String(xmlText: $0) } ?? text
    }

    /// True if the text is base 64: by `mode` in Atom 0.3, and in 1.0 by a media type that is neither text nor XML (RFC
    /// 4287, section 4.1.3.3).
    var isEncoded: Bool {
        if let mode = attributes["mode"] { return mode == "base64" }
        guard feed.format == "atom", let type = attributes["type"]?.lowercased() else { return false }
        return type.contains("/") && !type.hasPrefix("text/") && !type.hasSuffix("xml")
    }

    /// Offers a text for a field. For a feed the first text of a rank counts, for an entry the last that is not empty.
    func offer(
        _ text: String, to field: inout RankedText, rank: Int, base: String? = nil, keepsFirst: Bool = false
    ) throws {
        guard field.takes(text, rank: rank, keepsFirst: keepsFirst || !isInEntry) else { return }
        try keep(text.utf8.count)
        field.set(text, rank: rank, base: base)
    }

    /// Reads a description or a summary. In an item with both, the second is the content, unless it has one.
    func describe(_ name: String) throws {
        if isInEntry, let first = draft.descriptionElement, first != name {
            return try offer(saidText, to: &draft.content, rank: 2)
        }
        draft.descriptionElement = name
        try offer(saidText, to: &draft.description, rank: 0)
    }

    func offerLanguage() throws {
        guard let language = scopes.last?.language, !language.isEmpty else { return }
        try offer(language, to: &draft.language, rank: 2)
    }

    /// Reads a `guid`. It is also the entry's address where it says so, or says nothing (RSS 2.0) and looks like one.
    func didFindGUID() throws {
        let guid = text
        try offer(guid, to: &draft.id, rank: 0)
        let isPermaLink = attributes["isPermaLink"]?.lowercased()
        guard isPermaLink != "false", !guid.isEmpty else { return }
        let isAddress = guid.hasPrefix("http://") || guid.hasPrefix("https://")
        if isAddress || isPermaLink == "true" { try offer(guid, to: &draft.link, rank: 2, base: base) }
    }

    func didFindLink(_ address: String) throws {
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

    func addEnclosure(_ address: String) throws {
        guard isInEntry, !address.isEmpty else { return }
        let type = attributes["type"]
        let address = URIReference.resolve(address, against: base)
        try keep(address.utf8.count + (type?.utf8.count ?? 0) + 200)
        draft.enclosures.append(
            Enclosure(
                feed: feed.feed, url: address, type: type, length: attributes["length"].flatMap { Int(xmlText: $0) }))
    }

    func addCategory(_ term: String, _ scheme: String?) throws {
        guard isInEntry, !term.isEmpty else { return }
        let label = attributes["label"]
        try keep(term.utf8.count + (scheme?.utf8.count ?? 0) + (label?.utf8.count ?? 0) + 200)
        draft.categories.append(
            Category(feed: feed.feed, term: term, scheme: scheme ?? "", label: label))
    }

    /// Adds an author. All authors from one vocabulary are kept.
    func addAuthor(_ author: String, rank: Int) throws {
        guard !author.isEmpty, rank <= draft.authorRank else { return }
        if rank < draft.authorRank { draft.authors = [] }
        guard draft.authors.count < Self.authorLimit, !draft.authors.contains(author) else { return }
        draft.authors.append(try kept(author))
        draft.authorRank = rank
    }

    /// Returns a person as RSS writes one, but with the name first: `Ines (ines@example.org)`.
    func named(_ person: (name: String, email: String)) -> String {
        if person.name.isEmpty { return person.email }
        return person.email.isEmpty ? person.name : "\(person.name) (\(person.email))"
    }

    func setDate(_ field: inout (date: Date, rank: Int)?, rank: Int) {
        guard rank <= field?.rank ?? .max, let date = LooseDate.date(text) else { return }
        field = (date, rank)
    }

    func kept(_ text: String) throws -> String {
        try keep(text.utf8.count)
        return text
    }

    /// Counts the bytes that are kept until the entry or the feed ends.
    func keep(_ bytes: Int) throws {
        if isInEntry { keptOfEntries += bytes } else { keptOfFeed += bytes }
        guard keptOfEntries <= Self.keptLimit, keptOfFeed <= Self.keptLimit else {
            throw EntryTooLarge(limit: Self.keptLimit)
        }
    }
}

/// A feed's own description, or one entry with those that contain it, is larger than a parser keeps.
struct EntryTooLarge: Error, CustomStringConvertible {
    var limit: Int

    var description: String { "more than \(limit >> 20) MiB are in one entry, or said of the feed itself" }
}
