import Foundation
import Testing
import XMLStream

@Suite struct XMLStreamParserTests {
    @Test func elementsAttributesAndTheirOwnText() throws {
        #expect(
            try ElementRecorder.events("<a x='1' p:y='2' xmlns:p='urn:p'>one<p:b>in</p:b>two<![CDATA[<3>]]></a>") == [
                "<a x=1 p:y=2>", "<p:b>", "</p:b \"in\">", "</a \"onetwo<3>\">",
            ])
    }

    @Test func indentationIsNotKeptButMixedContentIs() throws {
        #expect(try ElementRecorder.events("<a>\n  <b/>\n  <b/>\n</a>").last == "</a \"\n\">")
        #expect(try ElementRecorder.events("<a>x <b/> y</a>").last == "</a \"x  y\">")
        #expect(try ElementRecorder.events("<a>  </a>").last == "</a \"  \">")
    }

    @Test func predefinedAndDeclaredEntities() throws {
        #expect(
            try ElementRecorder.events("<a x='&amp;&lt;&#65;&amp;lt;&amp;#66;'>&amp;&lt;&#65;&#x1F600;</a>") == [
                "<a x=&<A&lt;&#66;>", "</a \"&<A😀\">",
            ])
        let declared = "<!DOCTYPE a [<!ENTITY who 'Ann &amp; Bob'><!ENTITY all '&who; &who;'>]>"
        #expect(
            try ElementRecorder.events(declared + "<a x='-&all;-'>-&who;-&all;-</a>") == [
                "<a x=-Ann & Bob Ann & Bob->", "</a \"-Ann & Bob-Ann & Bob Ann & Bob-\">",
            ])
    }

    /// The same events, wherever the network cuts the document.
    @Test(arguments: [1, 2, 3, 5, 7, 64, 4095, 4096, 4097])
    func piecesOfAnySize(size: Int) throws {
        let rows = (0..<200).map { "<r id='\($0)'><n>Näme &amp; \($0)</n><![CDATA[x]]></r>" }.joined(separator: "\n")
        let document = "<?xml version='1.0' encoding='UTF-8'?>\n<!-- c --><rows>\n\(rows)\n</rows>\n"
        #expect(try ElementRecorder.events(document, pieces: size) == ElementRecorder.events(document))
    }

    /// libxml2 takes the end of an internal subset where it is, however its bytes come.
    @Test(arguments: [
        "<!DOCTYPE a [<!-- ]> --><!ELEMENT a ANY>]><a/>", "<!DOCTYPE a [<!-- it's ]> --><!ELEMENT a ANY>]><a/>",
        "<!DOCTYPE a [<?pi it's ]> ??><!ELEMENT a ANY>]><a/>",
        "<?xml version='1.0'?><!-- <!DOCTYPE b [ ---><!DOCTYPE a [<!ENTITY e ']>'><!-- \" -->]><a>&e;</a>",
        "<!DOCTYPE a SYSTEM 'x]>y' [<!-- ]]> -->\n] >\n<a/>", "<!DOCTYPE a><!-- [ --><a>[</a>",
        "<!DOCTYPE a [<!ELEMENT a ANY>", "<!DOCTYPE a [<!ELEMENT a ANY>]", "<!DOCTYPE a [<!-- ]><a/>", "<!DOC a><a/>",
    ])
    func aDeclarationEndsWhereverTheNetworkCutsIt(document: String) {
        func events(_ bytes: [UInt8], _ size: Int) -> [String] {
            do {
                return try ElementRecorder.events(bytes, pieces: size)
            } catch {
                return ["\((error as? XMLStreamError)?.code as Any)"]
            }
        }
        let wide: [UInt8] = [0xFF, 0xFE] + document.utf8.flatMap { (byte: UInt8) -> [UInt8] in [byte, 0] }
        for bytes in [Array(document.utf8), wide] {
            let whole = events(bytes, .max)
            for size in 1...bytes.count { #expect(events(bytes, size) == whole, "by \(size)") }
        }
    }

    /// A declaration longer than what libxml2 is given at once otherwise.
    @Test(arguments: [1_000, 64 << 10, 1_000_000])
    func aLongDeclarationIsReadAsAWhole(size: Int) throws {
        let comments = String(repeating: "<!-- it's not ]> the end -->", count: 5_000)
        let document = "<!DOCTYPE a [\(comments)<!ENTITY e 'x'>]><a>&e;</a>"
        #expect(try ElementRecorder.events(document, pieces: size) == ["<a>", "</a \"x\">"])
    }

    /// XML 1.0, section 2.11: however lines end, and wherever the network cuts the document.
    @Test(arguments: ["\r\n", "\r"], [1, 2, 3, 7, 300, 301, 4095, 4096, 4097, 1_000_000])
    func linesEndInLineFeeds(end: String, size: Int) throws {
        let long = (0..<400).map { "line \($0)\n" }.joined()
        let plain = """
            <?xml version='1.0'?>
            <!DOCTYPE a [<!ENTITY e "x
            y">]>
            <a v='1
            2'>t
            &e;&#13;<![CDATA[

            a
            b
            ]]><![CDATA[
            c]]><![CDATA[]]><b><![CDATA[\(long)]]></b><c><![CDATA[d
            ]]>
            e</c></a>
            """
        let document = plain.replacingOccurrences(of: "\n", with: end)
        #expect(try ElementRecorder.events(document, pieces: size) == ElementRecorder.events(plain))
    }

    @Test(arguments: [
        ("utf-16", String.Encoding.utf16), ("UTF-8", .utf8), ("ISO-8859-1", .isoLatin1),
        ("windows-1251", .windowsCP1251),
        ("Shift_JIS", .shiftJIS),
    ])
    func encodingsThatTheDeclarationNames(name: String, encoding: String.Encoding) throws {
        let text = ["windows-1251": "Привет", "Shift_JIS": "日本"][name] ?? "Größe"
        let document = try #require("<?xml version='1.0' encoding='\(name)'?><a>\(text)</a>".data(using: encoding))
        #expect(try ElementRecorder.events(Array(document), pieces: 1).last == "</a \"\(text)\">")
        #expect(try ElementRecorder.events(Array(document)).last == "</a \"\(text)\">")
    }

    @Test func encodingsThatFoundationDoesNotKnow() throws {
        let japanese =
            Array("<?xml version='1.0' encoding='EUC-JP'?><a>".utf8) + [0xC6, 0xFC, 0xCB, 0xDC] + Array("</a>".utf8)
        #expect(try ElementRecorder.events(japanese, pieces: 1).last == "</a \"日本\">")
        let chinese = Array("<?xml version='1.0' encoding='GB18030'?><a>".utf8) + [0xC8, 0xD5] + Array("</a>".utf8)
        #expect(try ElementRecorder.events(chinese).last == "</a \"日\">")
    }

    /// RFC 7303, section 3: byte order mark, then the transport, then the declaration.
    @Test func orderOfEncodings() throws {
        let latin = try #require("<?xml version='1.0' encoding='UTF-8'?><a>é</a>".data(using: .isoLatin1))
        #expect(try ElementRecorder.events(Array(latin), charset: "iso-8859-1").last == "</a \"é\">")
        let marked = [0xEF, 0xBB, 0xBF] + Array("<?xml version='1.0'?><a>é</a>".utf8)
        #expect(try ElementRecorder.events(marked, charset: "iso-8859-1").last == "</a \"é\">")
        let contradicted = [0xEF, 0xBB, 0xBF] + Array("<?xml version='1.0' encoding='iso-8859-1'?><a>é</a>".utf8)
        #expect(try ElementRecorder.events(contradicted).last == "</a \"é\">")
        let declared = try #require("<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>".data(using: .isoLatin1))
        #expect(try ElementRecorder.events(Array(declared)).last == "</a \"é\">")
        #expect(throws: XMLStreamError.self) { try ElementRecorder.events(Array("<a/>".utf8), charset: "no-such") }
    }

    @Test(arguments: [
        ("", XMLStreamError.Code.empty), ("   \n ", .empty), ("plain text", .empty), ("<a><b></a>", .notWellFormed),
        ("<a>x", .truncated), ("<a>&nbsp;</a>", .entity), ("<a b=1/>", .notWellFormed), ("<a/><b/>", .notWellFormed),
        ("<html><body/></html>", .html), ("<!DOCTYPE html><HTML><p></HTML>", .html),
        ("<?xml version='1.0' encoding='x-no-such'?><a/>", .encoding), ("<a>\u{1}</a>", .notWellFormed),
    ])
    func whatIsNoDocument(text: String, code: XMLStreamError.Code) {
        let error = ElementRecorder.error(text)
        #expect(error?.code == code, "\(String(describing: error))")
        #expect(error?.line ?? 0 >= 1)
    }

    @Test func cutAtEveryByte() throws {
        let document = Array("<?xml version='1.0'?><a x='1'><b>t &amp; é</b><![CDATA[c]]><!-- d --></a>".utf8)
        for end in 0..<document.count {
            #expect(throws: XMLStreamError.self) { try ElementRecorder.events(Array(document[..<end])) }
        }
        #expect(try ElementRecorder.events(document).count == 4)
    }

    /// A body that breaks off within markup is not one that was written badly.
    @Test(arguments: [
        "<a>\n<b c='1'>x</b>\n<d>x</d", "<a>\n<b c='1'>x</b>\n<d>x</", "<a>\n<b c='1'>x</b>\n<d>x<",
        "<a>\n<b c='1'>x</b>\n<d", "<a>\n<b c='1'>x</b>\n<d e", "<a>\n<b c='1'>x</b>\n<d e='f",
        "<a>\n<b c='1'>x</b>\n<!-- x", "<a>\n<b c='1'>x</b>\n<![CDATA[x", "<a>\n<b c='1'>x</b>\n<?x y",
        "<a>\n<b c='1'>x</b>\nx &am", "<a>\n<b c='1'>x</b>\nx", "<a>\n<b c='1'>x</b>\nx &#x2",
    ])
    func aDocumentThatBreaksOffSaysSo(text: String) throws {
        let column = (text.split(separator: "\n").last?.utf8.count ?? 0) + 1
        for pieces in [1, 7, 1000] {
            let error = try #require(throws: XMLStreamError.self) {
                try ElementRecorder.events(Array(text.utf8), pieces: pieces)
            }
            #expect(error.code == .truncated, "\(error)")
            #expect(error.line == 3 && error.column == column, "\(error)")
            #expect(
                error.message == "the document ends before its root element <a> does; it was probably cut off",
                "\(error)")
        }
    }

    @Test(arguments: ["<a", "<a b='1' ", "<?xml versi", "<?xml version='1.0'?><!-- x", "<!DOCTYPE a [<!ELEM"])
    func aDocumentThatBreaksOffBeforeItsRootSaysSo(text: String) {
        let error = ElementRecorder.error(text)
        #expect(
            error?.description
                == "line 1, column \(text.utf8.count + 1): the document ends before its root element begins; it was "
                + "probably cut off")
    }

    /// What is written badly is not cut off.
    @Test(arguments: ["<a>x & y</a>", "<a>x < y</a>", "<a><b></a>", "<a/><!-- x", "a&b"])
    func whatIsWrittenBadlyIsNotCutOff(text: String) {
        #expect(ElementRecorder.error(text).map { $0.code != .truncated } == true)
    }

    @Test func invalidBytes() {
        #expect(throws: XMLStreamError.self) { try ElementRecorder.events([60, 97, 62, 0xC3, 0x28, 60, 47, 97, 62]) }
        let jis = Array("<?xml version='1.0' encoding='Shift_JIS'?><a>".utf8) + [0x81, 0x20, 0xFF] + Array("</a>".utf8)
        for pieces in [1, 7, 1000] {
            let error = #expect(throws: XMLStreamError.self) { try ElementRecorder.events(jis, pieces: pieces) }
            #expect(error?.code == .encoding, "\(String(describing: error))")
        }
    }

    @Test func externalEntitiesAreNotFetched() throws {
        let secret = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID().uuidString)")
        try Data("stolen".utf8).write(to: secret)
        defer { try? FileManager.default.removeItem(at: secret) }
        let external = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file://\(secret.path)'>]><a>&x;</a>"
        #expect(ElementRecorder.error(external)?.code == .entity)
        // Naming a DTD is harmless as long as nothing that it declares is used.
        let dtd = "<!DOCTYPE a SYSTEM 'file://\(secret.path)'><a>fine</a>"
        #expect(try ElementRecorder.events(dtd).last == "</a \"fine\">")
        #expect(ElementRecorder.error("<!DOCTYPE a SYSTEM 'x.dtd'><a>&nbsp;</a>")?.code == .entity)
    }

    @Test func billionLaughs() {
        let entities = (1...9).map { "<!ENTITY l\($0) '\(String(repeating: "&l\($0 - 1);", count: 10))'>" }.joined()
        let document = "<!DOCTYPE a [<!ENTITY l0 'ha'>\(entities)]>"
        #expect(ElementRecorder.error(document + "<a>&l9;</a>") != nil)
        #expect(ElementRecorder.error(document + "<a x='&l9;'/>") != nil)
        let quadratic = "<!DOCTYPE a [<!ENTITY b '\(String(repeating: "x", count: 100_000))'>]>"
        let uses = String(repeating: "&b;", count: 100)
        #expect(ElementRecorder.error(quadratic + "<a>\(uses)</a>") != nil)
    }

    @Test func limits() {
        var limits = XMLLimits()
        limits.depth = 10
        limits.nameLength = 20
        limits.textLength = 1000
        func refuses(_ text: String) -> Bool {
            do {
                _ = try ElementRecorder.events(text, limits: limits)
                return false
            } catch {
                return (error as? XMLStreamError)?.code == .limit
            }
        }
        #expect(refuses(String(repeating: "<a>", count: 11)))
        #expect(refuses("<\(String(repeating: "n", count: 21))/>"))
        #expect(refuses("<a>\(String(repeating: "t", count: 1001))</a>"))
        #expect(refuses("<a b='\(String(repeating: "t", count: 1001))'/>"))
        #expect(!refuses("<a>" + String(repeating: "\n\(String(repeating: " ", count: 100))<b/>", count: 100) + "</a>"))
        #expect(ElementRecorder.error(String(repeating: "<a>", count: 100_000))?.code == .limit)
    }

    @Test func anErrorOfTheHandlerEndsTheDocument() throws {
        struct Stop: Error {}
        final class Stopper: XMLStreamHandler {
            var count = 0
            override func didStartElement(in stream: XMLStreamParser) throws {
                count += 1
                if count == 2 { throw Stop() }
            }
            override func didEndElement(in stream: XMLStreamParser) {}
        }
        let stopper = Stopper()
        let parser = XMLStreamParser(handler: stopper)
        let document = Array("<a><b/><c/></a>".utf8)
        #expect(throws: Stop.self) { try document.withUnsafeBytes { try parser.parse($0) } }
        #expect(throws: Stop.self) { try parser.finish() }
        #expect(stopper.count == 2)
    }

    @Test func anErrorAtTheEndOfTheDocumentStays() throws {
        struct Stop: Error {}
        final class Stopper: XMLStreamHandler {
            var count = 0
            override func didEndDocument() throws {
                count += 1
                throw Stop()
            }
        }
        let stopper = Stopper()
        let parser = XMLStreamParser(handler: stopper)
        try Array("<a><b/></a>".utf8).withUnsafeBytes { try parser.parse($0) }
        for _ in 1...2 { #expect(throws: Stop.self) { try parser.finish() } }
        #expect(stopper.count == 1)
    }
}
