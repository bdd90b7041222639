import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import FeedFetching

/// Addresses of file servers, the lines of their listings, and what `check` says of both.
@Suite struct RemoteAddressTests {
    @Test func anAddressIsOfAFileOrOfAFolder() throws {
        let file = try RemoteAddress("SFTP://Host.example/in/a%20b%23%2A")
        #expect(file.url.absoluteString == "sftp://host.example/in/a%20b%23%2A")
        #expect(!file.isFolder && file.pattern == nil && file.url.origin.description == "sftp://host.example:22")
        let folder = try RemoteAddress("ftp://host.example:2121//in/*.xml")
        #expect(folder.url.absoluteString == "ftp://host.example:2121//in/")
        #expect(folder.isFolder && folder.pattern == MemberPattern("*.xml"))
        #expect(folder.address(of: Array("ü/?.xml".utf8)) == "ftp://host.example:2121//in/%C3%BC%2F%3F.xml")
        #expect(try RemoteAddress("ftps://host.example").isFolder)
        #expect(try RemoteAddress("ftps://[::1]/a;type=i").url.absoluteString == "ftps://[::1]/a%3Btype%3Di")
    }

    @Test(arguments: [
        ("sftp://me@host/a", "user or password"), ("sftp://host/a?b", "'?' or '#'"), ("ftp://host/a#b", "'?' or '#'"),
        ("ftp://host/*/a.xml", "only the last part"), ("ftp://host/%0D%0ADELE%20a", "control character"),
        ("sftp://host/in/../a", "'.', '..' or an encoded '/'"),
        ("sftp://host/in/..%2Fa", "'.', '..' or an encoded '/'"),
        ("sftp:///a", "names no host"), ("sftp://host:0/a", "port"),
    ])
    func otherAddressesAreRefused(_ text: String, _ expected: String) {
        #expect {
            try RemoteAddress(text)
        } throws: {
            "\($0)".contains(expected)
        }
    }

    @Test(arguments: [
        ("-rw-r--r--    1 root     root            5 Nov 24 11:18 a.xml", "a.xml", true),
        ("-rw-r--r--    1 a b      root            5 Nov 24  2024  b c.xml", " b c.xml", true),
        ("-rw-r--r--+   1 root     root            5 2026-11-24 11:18 a.xml", "a.xml", true),
        ("drwxr-xr-x    3 root     root         4096 Nov 24 11:18 sub", "sub", false),
        ("lrwxrwxrwx    1 root     root            5 Nov 24 11:18 l.xml -> a.xml", "l.xml -> a.xml", false),
    ])
    func linesForPeopleAreRead(_ line: String, _ name: String, _ isFile: Bool) throws {
        let entry = try #require(RemoteEntry(line: Array(line.utf8)))
        #expect(String(decoding: entry.name, as: UTF8.self) == name && entry.mayBeFile == isFile)
    }

    @Test func factsAreRead() throws {
        let file = try #require(
            RemoteEntry(facts: Array("Modify=20261124111844.12;Size=5;type=FILE;UNIX.mode=0644; a b.xml".utf8)))
        #expect(file == RemoteEntry(name: "a b.xml", size: 5, modified: 1_795_519_124))
        for type in ["dir", "cdir", "OS.unix=symlink", "OS.unix=slink:/x"] {
            #expect(RemoteEntry(facts: Array("type=\(type); x".utf8))?.mayBeFile == false)
        }
        for line in ["", "a.xml", "type=file;size", "<html> no listing"] {
            #expect(RemoteEntry(facts: Array(line.utf8)) == nil, "\(line)")
            #expect(RemoteEntry(line: Array(line.utf8)) == nil, "\(line)")
        }
    }

    private static let table =
        "tables = [{ table = \"t\", element = \"a\", key = [\"id\"], columns = { id = \"@id\" } }]"

    @Test(arguments: [
        ("sftp://h/a", "known_hosts = \"k\"", "an sftp: address needs the user"),
        ("sftp://h:2222/a", "auth = { ssh = { user = \"u\", private_key = \"k\" } }", "ssh-keyscan -p 2222 h"),
        ("sftp://h/a", "auth = { bearer = \"t\" }\nknown_hosts = \"k\"", "takes 'basic' or 'ssh'"),
        ("ftp://h/a", "auth = { ssh = { user = \"u\", private_key = \"k\" } }", "'ssh' requires an sftp: address"),
        (
            "ftps://h/a", "auth = { basic = { user = \"u\", password = \"p\", cleartext = true } }",
            "'cleartext' requires an ftp: address"
        ),
        (
            "https://h/a", "auth = { basic = { user = \"u\", password = \"p\", cleartext = true } }",
            "'cleartext' requires an ftp: address"
        ),
        ("https://h/a", "known_hosts = \"k\"", "known_hosts: requires an sftp: address"),
        ("ftp://h/a", "method = \"POST\"", "method: has no effect with an ftp: address"),
        ("ftp://h/a", "headers = { A = \"b\" }", "headers: has no effect"),
        ("ftp://h/a", "proxy = \"http://p\"", "proxy: has no effect"),
        ("ftp://h/a", "page = { link = true }", "page: has no effect"),
        ("ftp://h/in/", "", "names a folder; add documents = \"*.xml\""),
        ("ftp://h/in/", "documents = \"**/*.xml\"", "a server's listing is of one folder"),
        ("ftp://h/in/*/a", "", "only the last part of its path"),
        ("ftp://h/a", "newer_than = \"1d\"", "newer_than: requires a folder's address"),
        ("sftp://h/a", "auth = { ssh = { user = \"u\", private_key = \"none\" } }", "does not exist"),
        ("ftp://h/a", "auth = { ssh = { user = \"u\" } }", "'private_key' is missing"),
    ])
    func mistakesAreReported(_ url: String, _ options: String, _ expected: String) async throws {
        try await EngineFixture.with { fixture in
            try fixture.folder.write("key", to: "k")
            #expect {
                try fixture.configuration("[[sources.s.requests]]\nurl = \"\(url)\"\n\(options)\n\(Self.table)")
            } throws: {
                "\($0)".contains(expected)
            }
        }
    }
}

extension RemoteEntry {
    fileprivate init(name: String, size: Int, modified: Int) {
        self.init(name: Array(name.utf8))
        self.size = size
        self.modified = modified
    }
}
