import Testing
@testable import TributaryParsers

@Suite struct URIReferenceTests {
    /// RFC 3986, section 5.4: the normal and the abnormal examples.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ])
    func examplesOfTheRFC(reference: String, expected: String) {
        #expect(URIReference.resolve(reference, against: "http://a/b/c/d;p?q") == expected)
    }

    /// What is absolute is not changed in any way; an empty reference says nothing; a host alone has the path `/`.
    @Test func others() {
        #expect(URIReference.resolve("HTTP://X/../%7e é", against: "http://a/b") == "HTTP://X/../%7e é")
        #expect(URIReference.resolve("urn:x", against: "http://a/b") == "urn:x")
        #expect(URIReference.resolve("", against: "http://a/b") == "")
        #expect(URIReference.resolve("g", against: "http://a") == "http://a/g")
        #expect(URIReference.resolve("g", against: nil) == "g")
        #expect(URIReference.resolve("g", against: "b/c") == "b/g")
        #expect(URIReference.resolve("é/1:2", against: "http://a/b") == "http://a/é/1:2")
        let long = String(repeating: "x/", count: 2000)
        #expect(URIReference.resolve("g", against: long) == "g")
    }
}
