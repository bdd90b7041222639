import Foundation
import Tributary

/// Reads each element by its vocabulary: the feed's own elements, and those used in their place.
extension SyndicationParser {
    func didStartCore() throws {
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

    func didEndCore() throws {
        switch localName {
        case "item", "entry":
            // An entry that lies in markup was never begun.
            if isInEntry, draft.depth == depth { try endEntry() }
        // In RSS 1.0 an image, a text input and the items lie beside the channel, and do not describe the feed.
        case "channel": if !isInEntry, draft.depth == depth { draft.depth = 1 }
        case "name": if isPerson { person.name = try kept(text) }
        case "email": if isPerson { person.email = try kept(text) }
        case "url": if isOfImage { try offer(text, to: &draft.image, rank: 1, base: base, keepsFirst: true) }
        case let name: if isChild { try didEndChild(name) }
        }
    }

    func didEndChild(_ name: String) throws {
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
            // For a feed with no date of its last change, this is that date.
            if !isInEntry { setDate(&draft.updated, rank: 2) }
        case "created": setDate(&draft.published, rank: 2)
        case "updated", "modified", "lastBuildDate": setDate(&draft.updated, rank: 0)
        default: break
        }
    }

    // MARK: - Words that stand in

    func didEndDublinCore() throws {
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

    func didEndTerm() {
        switch localName {
        case "issued": setDate(&draft.published, rank: 1)
        case "created": setDate(&draft.published, rank: 2)
        case "modified": setDate(&draft.updated, rank: 1)
        default: break
        }
    }

    func didEndITunes() throws {
        switch localName {
        case "title": try offer(text, to: &draft.title, rank: 2)
        case "summary": try offer(text, to: &draft.description, rank: 2)
        case "subtitle": try offer(text, to: &draft.description, rank: 3)
        case "author": try addAuthor(text, rank: 2)
        case "duration": if let seconds = Self.seconds(text) { draft.duration = seconds }
        default: break
        }
    }

    func didEndMedia() throws {
        switch localName {
        case "title": try offer(text, to: &draft.title, rank: 3, keepsFirst: true)
        case "description": try offer(text, to: &draft.description, rank: 4, keepsFirst: true)
        default: break
        }
    }

    /// Returns the seconds of `3723`, `1:02:03` and `62:03`.
    static func seconds(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 3 else { return nil }
        var seconds = 0
        for part in parts {
            guard let value = Double(xmlText: String(part)), (0..<1e9).contains(value) else { return nil }
            seconds = seconds * 60 + Int(value)
        }
        return seconds
    }
}
