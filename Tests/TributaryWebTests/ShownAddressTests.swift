import Testing

@testable import TributaryWeb
@testable import FeedConfiguration

struct ShownAddressTests {
    @Test(arguments: [
        ("https://example.com/feed.xml", "https://example.com/feed.xml"),
        ("https://example.com/a?key=abc&lang=de", "https://example.com/a?key=…&lang=…"),
        (
            "https://example.com/a?key=${KEY}&since=${last:max(id)}",
            "https://example.com/a?key=${KEY}&since=${last:max(id)}"
        ),
        ("https://example.com/a?key=x${KEY}", "https://example.com/a?key=…"),
        ("https://example.com/a?secret", "https://example.com/a?…"),
        ("https://example.com/a?a=b?c=d#e", "https://example.com/a?a=…"),
        ("https://example.com/a#secret", "https://example.com/a"),
        ("ftp://me:pass@word@example.com/a@b", "ftp://example.com/a@b"),
        ("sftp://${USER}:${PASS}@example.com/", "sftp://example.com/"), ("${BASE}/feed?x=1", "${BASE}/feed?x=…"),
        ("file:///data/feed.xml", "file:///data/feed.xml"),
    ])
    func anAddressHasNoUserAndNoValues(_ template: String, _ shown: String) {
        #expect(template.shownAddress == shown)
    }
}

struct AccessTokensTests {
    @Test func aDaemonThatOthersReachLetsNobodyInWithoutAToken() throws {
        let wide = try #require(ListenAddress("0.0.0.0:8090"))
        let own = try #require(ListenAddress("127.0.0.1:8090"))
        let token = InterpolatedText("0123456789abcdef")
        for (declaration, address, isMissing) in [
            (WebDeclaration(address: wide, token: token), wide, false), (nil, wide, true),
            (WebDeclaration(address: own, token: nil), wide, true),
            (WebDeclaration(address: own, token: nil), own, false),
            (nil, own, false),
        ] as [(WebDeclaration?, ListenAddress, Bool)] {
            let tokens = AccessTokens(declaration, listeningAt: address)
            #expect(tokens.isMissing == isMissing && (tokens.token == nil) == (declaration?.token == nil))
        }
    }
}
