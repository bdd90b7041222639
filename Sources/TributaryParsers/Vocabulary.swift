/// The vocabularies of syndication, whatever prefixes a feed uses for them.
enum Vocabulary {
    /// RSS and Atom themselves.
    case core
    case dublinCore
    /// The later terms of Dublin Core. Only dates are read from them.
    case terms
    /// RSS's content module.
    case content
    case itunes
    case media
    case google
    case xhtml
    case other

    static let rdfNamespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    static let xhtmlNamespace = "http://www.w3.org/1999/xhtml"

    /// - Parameter namespace: a namespace that is not the feed's own.
    init(namespace: String) { self = Self.namespaces[namespace.lowercased()] ?? .other }

    /// The namespaces in lower case, because feeds write them in either case.
    private static let namespaces: [String: Vocabulary] = [
        "http://www.w3.org/2005/atom": .core,
        "http://purl.org/atom/ns#": .core,
        "http://purl.org/rss/1.0/": .core,
        "http://my.netscape.com/rdf/simple/0.9/": .core,
        "http://my.netscape.com/publish/formats/rss-0.91.dtd": .core,
        "http://channel.netscape.com/rdf/simple/0.9/": .core,
        "http://backend.userland.com/rss": .core,
        "http://backend.userland.com/rss2": .core,
        "http://backend.userland.com/rss091": .core,
        "http://backend.userland.com/rss092": .core,
        "http://purl.org/rss/1.0/modules/rss091#": .core,
        "http://purl.org/net/rss1.1#": .core,
        "http://blogs.law.harvard.edu/tech/rss": .core,
        "http://cyber.law.harvard.edu/rss/rss.html": .core,
        "http://www.rssboard.org/rss-specification": .core,
        "http://purl.org/dc/elements/1.0/": .dublinCore,
        "http://purl.org/dc/elements/1.1/": .dublinCore,
        "http://purl.org/dc/terms/": .terms,
        "http://purl.org/rss/1.0/modules/content/": .content,
        "http://www.itunes.com/dtds/podcast-1.0.dtd": .itunes,
        "http://search.yahoo.com/mrss": .media,
        "http://search.yahoo.com/mrss/": .media,
        "http://base.google.com/ns/1.0": .google,
        xhtmlNamespace: .xhtml,
    ]
}

/// The document is well-formed but not of the expected kind: a maintenance page, a fault, another feed.
struct UnexpectedRoot: Error, CustomStringConvertible {
    let description: String

    init(_ element: String, expected: String) {
        description = "the root element is <\(element)>, not \(expected)"
    }
}
