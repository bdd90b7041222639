import TestStores
import TestSupport
import Testing
import Tributary

/// What `SyndicationParser` makes of feeds as they are written.
@Suite struct SyndicationTests {
    private typealias Fixture = SyndicationFixture

    // MARK: - Markup

    @Test func xhtmlIsKeptAsMarkupWithoutItsDiv() async throws {
        let entry = """
            <entry><id>urn:1</id><title type='xhtml'><h:div xmlns:h='http://www.w3.org/1999/xhtml'>A <h:b>&lt;b&gt;</h:b>
            B</h:div></title><summary type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p/>one<br/></div></summary>
            <content type='xhtml'><div>one</div><div>two</div></content></entry>
            """
        try await Fixture.expect(
            Fixture.atom(entry), "SELECT title, summary, content FROM entry",
            ["A <b>&lt;b&gt;</b>\nB|<p></p>one<br/>|<div>one</div><div>two</div>"])
    }

    @Test func foreignMarkupDeclaresItsNamespace() async throws {
        let content = """
            <content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><m:math xmlns:m='urn:m'><m:mi>x</m:mi></m:math>
            <svg xmlns='urn:svg'><g><p xmlns='http://www.w3.org/1999/xhtml'>y</p></g></svg></div></content>
            """
        try await Fixture.expect(
            Fixture.atom("<entry><id>urn:1</id>\(content)</entry>"), "SELECT content FROM entry",
            [
                "<m:math xmlns:m=\"urn:m\"><m:mi>x</m:mi></m:math>\n<svg xmlns=\"urn:svg\"><g><p xmlns=\"\">y</p></g></svg>"
            ])
    }

    @Test func modesOfAtom03() async throws {
        let feed = """
            <feed version='0.3' xmlns='http://purl.org/atom/ns#'><title mode='escaped'>a &lt;b&gt;</title>
            <tagline mode='base64'>PGI+dHdvPC9iPg==</tagline>
            <entry><id>urn:1</id><title mode='xml'>x <em>y</em></title><summary mode='base64'>no base 64!</summary></entry></feed>
            """
        try await Fixture.expect(
            feed,
            "SELECT f.title, description, e.title, summary FROM feed f JOIN entry e USING (feed)",
            ["a <b>|<b>two</b>|x <em>y</em>|no base 64!"])
    }

    @Test func nakedMarkupInRSS() async throws {
        let item = """
            <item><guid>g</guid><title>t</title><description><p>One <i a='&quot;'>two</i></p> three<title>no</title></description>
            <content:encoded xmlns:content='http://purl.org/rss/1.0/modules/content/'><![CDATA[<p>c]]></content:encoded></item>
            """
        try await Fixture.expect(
            Fixture.rss(item), "SELECT title, summary, content FROM entry",
            ["t|<p>One <i a=\"&quot;\">two</i></p> three<title>no</title>|<p>c"])
    }

    /// What lies in markup says nothing of the entry.
    @Test func entriesInMarkupAreNone() async throws {
        let item = "<item><guid>g</guid><description><item><guid>h</guid><link>x</link></item></description></item>"
        try await Fixture.expect(
            Fixture.rss(item), "SELECT id, link, summary FROM entry",
            ["g|NULL|<item><guid>h</guid><link>x</link></item>"])
    }

    @Test func markupMayBeAsDeepAsADocument() async throws {
        try await Fixture.with { (fixture) async throws in
            let deep = String(repeating: "<i>x", count: 900) + String(repeating: "</i>", count: 900)
            fixture.server.document("/feed", Fixture.rss("<item><description>\(deep)</description></item>"))
            #expect(try await fixture.sync().error == nil)
            #expect(try fixture.rows("SELECT summary FROM entry") == [deep])
        }
    }

    // MARK: - Addresses

    @Test func linksAndIDsAreResolved() async throws {
        let feed = """
            <link href='.'/><entry xml:base='b/c'><id>../x</id><link href='?q#f'/><link rel='enclosure' href='/e.mp3'/></entry>
            <entry><id>HTTP://A.example/%7e</id><link href='//other.example/a/../b/./c/..'/></entry>
            """
        try await Fixture.expect(
            Fixture.atom(feed),
            """
            SELECT f.link, e.id, e.link, n.url FROM feed f JOIN entry e USING (feed)
            LEFT JOIN enclosure n ON n.entry = e.id ORDER BY e.id
            """,
            [
                "URL/a/|HTTP://A.example/%7e|http://other.example/b/|NULL",
                "URL/a/|URL/a/x|URL/a/b/c?q#f|URL/e.mp3",
            ], path: "/a/feed")
    }

    @Test func basesAreNoSecrets() async throws {
        try await Fixture.with { fixture in
            try fixture.folder.write("geheim", to: "token")
            fixture.server.document("/geheim/feed", Fixture.rss("<link>a</link>"))
            fixture.server.document("/feed", Fixture.rss("<link>b</link>"))
            try await fixture.sync(
                sources: """
                    [[sources.a.requests]]
                    url = "URL/${file:token}/feed"
                    [[sources.b.requests]]
                    url = "URL/feed?key=${TOKEN}"
                    """)
            #expect(
                try fixture.rows("SELECT link FROM feed ORDER BY feed") == ["a", fixture.server.url + "/b"])
        }
    }

    /// A variable in the address is a part of it like any other, even if a secret has the same text.
    @Test(arguments: ["URL/${TOKEN}/feed", "URL/geheim/feed", "${SERVER}/${TOKEN}/feed"])
    func aVariableInTheAddressIsPartOfTheBase(url: String) async throws {
        try await Fixture.with { fixture in
            let entry = "<entry><id>e</id><link href='/posts/1'/></entry>"
            fixture.server.document("/geheim/feed", Fixture.atom("<id>f</id><link href='x'/>" + entry))
            for options in ["", "headers = { X-Client = \"geheim\" }\n"] {
                try await fixture.sync(sources: "[[sources.a.requests]]\nurl = \"\(url)\"\n\(options)")
                #expect(try fixture.rows("SELECT link FROM feed") == [fixture.server.url + "/geheim/x"], "\(options)")
                #expect(try fixture.rows("SELECT link FROM entry") == [fixture.server.url + "/posts/1"], "\(options)")
            }
        }
    }

    @Test func permanentLinks() async throws {
        let items = """
            <item><guid>http://e.org/1</guid></item><item><guid isPermaLink='false'>http://e.org/2</guid></item>
            <item><guid>3</guid></item><item><guid isPermaLink='true'>4</guid></item>
            <item><guid>http://e.org/5</guid><link>http://e.org/five</link></item>
            """
        try await Fixture.expect(
            Fixture.rss(items), "SELECT id, link FROM entry",
            [
                "http://e.org/1|http://e.org/1", "http://e.org/2|NULL", "3|NULL", "4|URL/4",
                "http://e.org/5|http://e.org/five",
            ])
    }

    // MARK: - Vocabularies

    @Test(arguments: [
        "<rss xmlns='http://backend.userland.com/RSS2'>", "<rss xmlns='urn:of-its-own'>",
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://my.netscape.com/rdf/simple/0.9/'>",
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/net/rss1.1#'>",
    ])
    func namespaces(root: String) async throws {
        let end = root.hasPrefix("<rdf") ? "</rdf:RDF>" : "</rss>"
        try await Fixture.expect(
            root + "<channel><title>c</title><image><title>i</title></image></channel><item><title>e</title></item>"
                + end,
            "SELECT f.title, e.title FROM feed f JOIN entry e USING (feed)", ["c|e"])
    }

    /// An image and a text input beside the channel say nothing of the feed, but where the image is.
    @Test func besideTheChannelOfRSS10() async throws {
        let feed = """
            <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>
            <channel><title>c</title></channel><image><title>no</title><url>/i.png</url><link>no</link></image>
            <item rdf:about='urn:1'><title>e</title></item><textinput><description>no</description></textinput></rdf:RDF>
            """
        try await Fixture.expect(
            feed, "SELECT f.title, f.link, description, f.image, e.id FROM feed f JOIN entry e USING (feed)",
            ["c|NULL|NULL|URL/i.png|urn:1"])
    }

    /// A vocabulary is known by its namespace, whatever prefix a publisher has for it, also for none.
    @Test(arguments: [("rdf", "media", "a"), ("r", "m", "x")])
    func prefixesOfAPublishersOwn(rdf: String, media: String, atom: String) async throws {
        let feed = """
            <\(rdf):RDF xmlns:\(rdf)='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'
            xmlns:\(media)='http://search.yahoo.com/mrss/' xmlns:\(atom)='http://www.w3.org/2005/Atom' xmlns:o='urn:other'>
            <channel><title>c</title></channel>
            <item \(rdf):about='urn:1'><\(media):group><\(media):title>t</\(media):title></\(media):group>
            <\(atom):author><\(atom):name>A</\(atom):name></\(atom):author></item>
            <item o:about='no' \(rdf):about='urn:2'><o:group><\(media):title>no</\(media):title></o:group>
            <group xmlns='http://search.yahoo.com/mrss/'><title>u</title></group></item>
            </\(rdf):RDF>
            """
        try await Fixture.expect(
            feed, "SELECT id, title, author FROM entry ORDER BY id", ["urn:1|t|A", "urn:2|u|NULL"])
    }

    @Test func wordsThatStandIn() async throws {
        let names = """
            xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:itunes='http://www.itunes.com/DTDs/Podcast-1.0.dtd'
            xmlns:media='http://search.yahoo.com/mrss/' xml:lang='de_AT'
            """
        let feed = """
            <dc:title>from dc</dc:title><itunes:author>I</itunes:author><itunes:summary>s</itunes:summary>
            <image><url>/rss.png</url></image><itunes:image href='/i.png'/>
            <item><guid>1</guid><media:group><media:title>m</media:title><media:thumbnail url='t.png'/></media:group>
            <itunes:duration>1:02:03</itunes:duration><dc:creator>A</dc:creator><dc:creator>B</dc:creator>
            <dc:subject>one</dc:subject><category domain='urn:d'>two</category><dc:language>en</dc:language></item>
            <item><guid>2</guid><title>t</title><dc:title>d</dc:title><author>C</author><dc:creator>D</dc:creator></item>
            """
        try await Fixture.expect(
            Fixture.rss(feed, names),
            """
            SELECT title, author, description, image, language FROM feed UNION ALL
            SELECT title, author, CAST(duration AS TEXT), image, language FROM (SELECT * FROM entry ORDER BY id) e UNION ALL
            SELECT term, scheme, entry, label, NULL FROM (SELECT * FROM entry_category ORDER BY term) c
            """,
            [
                "from dc|I|s|URL/i.png|de-AT", "m|A, B|3723|URL/t.png|en", "t|C|NULL|NULL|de-AT", "one||1|NULL|NULL",
                "two|urn:d|1|NULL|NULL",
            ])
    }

    @Test func peopleOfAtom() async throws {
        let feed = """
            <author><name>N</name><email>n@e.org</email></author>
            <entry><id>1</id><author><name>A</name></author><author><email>b@e.org</email></author>
            <source><author><name>no</name></author><title>no</title></source></entry>
            """
        try await Fixture.expect(
            Fixture.atom(feed), "SELECT f.author, e.author, e.title FROM feed f JOIN entry e USING (feed)",
            ["N (n@e.org)|A, b@e.org|NULL"])
    }

    @Test(arguments: [
        ("Mon, 13 Feb, 2012 06:28:00 MET", "2012-02-13T05:28:00Z"),
        ("Thu Aug 30 2012 17:26 +0200", "2012-08-30T15:26:00Z"),
        ("Sun Jul 15 01:16:00 +0000 2012", "2012-07-15T01:16:00Z"),
        ("Fri, 2006/09/15 08:19:53 EDT", "2006-09-15T12:19:53Z"),
        ("Tue Aug 19 2025 23:15:30 GMT+0900 (대한민국 표준시)", "2025-08-19T14:15:30Z"), ("03-12-31", "2003-12-31T00:00:00Z"),
        ("2003-012-31T10:14:55+00:00", "2003-12-31T10:14:55Z"), ("5 March 2020 12:05 AM", "2020-03-05T00:05:00Z"),
        ("Πέμ, 09 Οκτ 2008 10:00:00 GMT", "NULL"), ("2004-július-3T9:15-05:00", "NULL"),
        ("2004년 05월 28일 01:31:15", "NULL"), ("2004-05-25 오후 1:23:17", "NULL"), ("2004-05-25 1:23:17 오후", "NULL"),
        ("-0312", "NULL"), ("--03-12", "NULL"), ("2004-366", "NULL"), ("2004366", "NULL"),
        ("Sun, 16 Dec 2012 1:2:3:4 GMT", "NULL"), ("yesterday", "NULL"), ("1234567890", "NULL"),
        ("Sun, 99 Jun 2009 12:00:00 GMT", "NULL"), ("2013-01-28T09:00:00+00:xx", "NULL"),
    ])
    func dates(text: String, expected: String) async throws {
        try await Fixture.expect(
            Fixture.rss("<item><guid>1</guid><pubDate>\(text)</pubDate></item>"), "SELECT published FROM entry",
            [expected])
    }

    // MARK: - What a feed is known by

    @Test(.onEachStore) func movedFeedKeepsItsEntries() async throws {
        try await Fixture.with { fixture in
            let feed = Fixture.rss("<title>t</title><item><guid>1</guid></item><item><link>/2</link></item>")
            fixture.server.document("/old", feed)
            fixture.server.document("/new/feed", feed)
            try await fixture.sync(["/old"])
            let seen = try fixture.rows("SELECT id, first_seen FROM entry")
            #expect(try fixture.rows("SELECT feed, source, request, id FROM feed") == ["s|s|1|NULL"])
            #expect(seen.count == 2 && seen.allSatisfy { $0.contains("|20") })
            try await fixture.sync(["/new/feed"])
            #expect(try fixture.rows("SELECT url FROM feed") == [fixture.server.url + "/new/feed"])
            #expect(try fixture.rows("SELECT id, first_seen FROM entry") == seen)
        }
    }

    @Test(.onEachStore) func requestsOfOneSource() async throws {
        try await Fixture.with { fixture in
            for path in ["/a", "/b"] { fixture.server.document(path, Fixture.rss("<item><guid>1</guid></item>")) }
            try await fixture.sync(["/a"])
            // The first goes on under the name that it has.
            try await fixture.sync(["/a", "/b"])
            #expect(try fixture.rows("SELECT feed, id FROM entry ORDER BY feed") == ["s|1", "s/2|1"])
        }
    }

    @Test(.onEachStore) func firstSeenStays() async throws {
        try await Fixture.with { fixture in
            fixture.server.document("/feed", Fixture.rss("<item><guid>1</guid><title>a</title></item>"))
            try await fixture.sync()
            let seen = try fixture.rows("SELECT first_seen FROM entry")
            try await Task.sleep(for: .milliseconds(1100))
            fixture.server.document("/feed", Fixture.rss("<item><guid>1</guid><title>b</title></item>"))
            #expect(try await fixture.sync().counts.updated == 1)
            #expect(try fixture.rows("SELECT first_seen FROM entry") == seen)
            #expect(try fixture.rows("SELECT title FROM entry") == ["b"])
            #expect(try await fixture.sync().counts.updated == 0)
        }
    }

    /// Tables that lack columns get them, and no row is lost or doubled.
    @Test(.onEachStore) func tablesGetNewColumns() async throws {
        try await Fixture.with { fixture in
            let old = """
                CREATE TABLE feed (
                    feed TEXT PRIMARY KEY NOT NULL, format TEXT NOT NULL, title TEXT, link TEXT, description TEXT,
                    language TEXT, updated TEXT);
                CREATE TABLE entry (
                    feed TEXT NOT NULL, id TEXT NOT NULL, title TEXT, link TEXT, author TEXT, published TEXT, updated TEXT,
                    summary TEXT, content TEXT, PRIMARY KEY (feed, id));
                CREATE TABLE enclosure (
                    feed TEXT NOT NULL, entry TEXT NOT NULL, url TEXT NOT NULL, type TEXT, length INTEGER,
                    PRIMARY KEY (feed, entry, url));
                INSERT INTO feed (feed, format) VALUES ('s', 'rss'), ('other', 'rss');
                INSERT INTO entry (feed, id, title) VALUES ('s', '1', 'one'), ('s', 'gone', 'left');
                """
            try fixture.execute(old)
            let items = "<item><guid>1</guid><title>one</title></item><item><guid>2</guid><category>c</category></item>"
            fixture.server.document("/feed", Fixture.rss(items))
            #expect(try await fixture.sync().error == nil)
            #expect(try fixture.rows("SELECT DISTINCT feed FROM entry") == ["s"])
            #expect(try fixture.rows("SELECT id, first_seen IS NULL FROM entry") == ["1|1", "gone|1", "2|0"])
            #expect(try fixture.rows("SELECT feed, source FROM feed WHERE source = 's'") == ["s|s"])
            #expect(try fixture.rows("SELECT term FROM entry_category") == ["c"])
            // Moved, it is still the same.
            fixture.server.document("/moved", Fixture.rss(items))
            #expect(try await fixture.sync(["/moved"]).counts.inserted == 0)
            #expect(try fixture.rows("SELECT count(*) FROM feed") == ["2"])
        }
    }
}
