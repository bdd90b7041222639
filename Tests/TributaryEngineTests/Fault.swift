import Foundation
import TestEngine
import TestSupport
import Testing

/// One of the bad things that may become of a request, and what the run's error must say of it.
struct Fault: Sendable, CustomTestStringConvertible {
    var name: String
    var options = ""
    var parser = "ItemsParser"
    var says: String
    /// What PostgreSQL says instead, of what the store itself has refused.
    var saysInPostgres: String?
    var answer: @Sendable (StubServer.Request) -> [StubServer.Step]

    var testDescription: String { name }

    private static func body(_ text: String) -> @Sendable (StubServer.Request) -> [StubServer.Step] {
        { _ in StubServer.response(200, text) }
    }

    private static let start = Array("<items><item id='x'><name>n</name></item>".utf8)

    static let all: [Fault] = [
        Fault(name: "404", says: "404 Not Found", answer: { _ in StubServer.response(404, "") }),
        Fault(name: "500", says: "500 Internal Server Error", answer: { _ in StubServer.response(500, "<items/>") }),
        Fault(name: "304 unasked", says: "304", answer: { _ in [StubServer.head(304, [:])] }),
        Fault(
            name: "reset in the body", says: "connection",
            answer: { _ in [StubServer.head(200, ["Content-Length": "1000"]), .send(start), .reset] }),
        Fault(
            name: "Content-Length longer than the body", says: "cut short",
            answer: { _ in [StubServer.head(200, ["Content-Length": "1000"]), .send(start), .close] }),
        Fault(
            name: "chunked body cut short", says: "cut short",
            answer: { _ in
                [
                    StubServer.head(200, ["Transfer-Encoding": "chunked"]),
                    .send(Array("29\r\n".utf8) + start + Array("\r\n".utf8)), .close,
                ]
            }),
        Fault(
            name: "headers that never come", options: "timeout = \"300ms\"", says: "within 0.3 s",
            answer: { _ in [.hang] }),
        Fault(
            name: "half a head", options: "timeout = \"300ms\"", says: "within 0.3 s",
            answer: { _ in [.send(Array("HTTP/1.1 200 OK\r\nConte".utf8)), .hang] }),
        Fault(
            name: "a body that drips", options: "timeout = \"400ms\"", says: "within 0.4 s",
            answer: { _ in
                [StubServer.head(200, [:]), .send(start), .drip(Array("<!-- drip -->".utf8), every: 0.05)]
            }),
        Fault(
            name: "not HTTP", says: "not HTTP", answer: { _ in [.send(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)), .close] }),
        Fault(
            name: "a body over max_body", options: "max_body = \"1KiB\"", says: "larger than max_body, 1 KiB",
            answer: body(
                "<items>" + String(repeating: "<item id='y'/>", count: 200) + "</items>")),
        Fault(
            name: "gzip bomb", options: "max_body = \"1MiB\"", says: "larger than max_body, 1 MiB",
            answer: { _ in
                StubServer.response(200, Gzip.bomb, ["Content-Encoding": "gzip"])
            }),
        Fault(
            name: "gzip cut short", says: "compressed body is truncated",
            answer: { _ in
                StubServer.response(
                    200, Array(Gzip.compressed("<items><item id='g'/></items>").dropLast(9)),
                    ["Content-Encoding": "gzip"])
            }),
        Fault(
            name: "gzip corrupted", says: "not valid gzip",
            answer: { _ in
                StubServer.response(
                    200,
                    Array(Gzip.compressed(String(repeating: "<a/>", count: 99)).prefix(10))
                        + [UInt8](repeating: 255, count: 99))
            }),
        Fault(
            name: "unknown Content-Encoding", says: "neither gzip nor deflate",
            answer: { _ in
                StubServer.response(200, "x", ["Content-Encoding": "br"])
            }),
        Fault(name: "empty body", says: "the body is empty", answer: body("")),
        Fault(
            name: "HTML", says: "HTML",
            answer: body("<!DOCTYPE html><html><head><title>Log in</title></head><body></body></html>")),
        Fault(
            name: "JSON that calls itself XML", says: "line 1 of the JSON body: 'x' is not expected",
            answer: { _ in StubServer.response(200, "{\"items\": [], x", ["Content-Type": "text/xml"]) }),
        Fault(
            name: "JSON cut short", says: "the document ends within its value",
            answer: body("{\"items\": [{\"item\": 1}")),
        Fault(
            name: "mismatched tags", says: "</items> closes <item> of line 1",
            answer: body("<items><item id='x'></items></item>")),
        Fault(
            name: "billion laughs", says: "entity reference loop",
            answer: body(
                "<!DOCTYPE items [<!ENTITY a 'ha'>"
                    + (1...12).map {
                        "<!ENTITY a\($0) '\(String(repeating: "&a\($0 == 1 ? "" : String($0 - 1));", count: 10))'>"
                    }.joined()
                    + "]><items><item id='x'><name>&a12;</name></item></items>")),
        Fault(
            name: "external entity", says: "external entity",
            answer: body(
                "<!DOCTYPE items [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><items><item id='x'><name>&a;</name></item></items>"
            )),
        Fault(
            name: "100,000 nested elements", says: "nested more than",
            answer: body(String(repeating: "<a>", count: 100_000))),
        Fault(
            name: "invalid UTF-8", says: "UTF-8",
            answer: { _ in
                StubServer.response(
                    200, Array("<items><item id='x'><name>".utf8) + [0xC3, 0x28] + Array("</name></item></items>".utf8))
            }),
        Fault(
            name: "invalid Shift_JIS", says: "Shift_JIS",
            answer: { _ in
                StubServer.response(
                    200,
                    Array("<?xml version='1.0' encoding='Shift_JIS'?><items><item id='x'><name>".utf8) + [
                        0x81, 0x20, 0xFF,
                    ] + Array("</name></item></items>".utf8))
            }),
        Fault(
            name: "unknown encoding", says: "ncoding",
            answer: body("<?xml version='1.0' encoding='x-klingon'?><items/>")),
        Fault(
            name: "unknown charset", says: "unknown encoding 'x-klingon'",
            answer: { _ in
                StubServer.response(200, "<items/>", ["Content-Type": "text/xml; charset=x-klingon"])
            }),
        Fault(
            name: "a value that does not convert", says: "line 2: <size> is 'large', which is not an integer",
            answer: body(
                "<items><item id='x'><size>1</size></item>\n<item id='y'><size>large</size></item></items>")),
        Fault(
            name: "a parser that throws", parser: "ThrowingParser", says: "the parser threw Refusal()",
            answer: body("<items><item/><name/></items>")),
        Fault(
            name: "a foreign key violation", says: "foreign key (company) REFERENCES company(id)",
            saysInPostgres: "Key (company)=(nobody) is not present in table \"company\"",
            answer: body("<items><item id='x' company='nobody'/></items>")),
        Fault(
            name: "a NOT NULL violation", parser: "CompaniesParser", says: "column 'name' must not be NULL",
            answer: body("<c><company id='x'/></c>")),
        Fault(
            name: "a key without a value", says: "key column 'id' has no value", answer: body("<items><item/></items>")),
        Fault(
            name: "a redirect loop", says: "redirects more than",
            answer: { request in
                [StubServer.head(302, ["Location": request.path, "Content-Length": "0"])]
            }),
        Fault(name: "an empty mirror", options: "sync = \"mirror\"", says: "allow_empty", answer: body("<items/>")),
    ]
}
