import Testing
import XMLStream

/// Little in, much out: what a document's declarations, names and namespaces may make of it.
@Suite struct XMLLimitsTests {
    /// What parsing is refused for; empty where it is not.
    private func refusal(_ text: String, _ change: (inout XMLLimits) -> Void = { _ in }) -> String {
        var limits = XMLLimits()
        change(&limits)
        do {
            _ = try ElementRecorder.events(text, limits: limits)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func attributeDefaultsCountForEachElementThatHasThem() {
        let text =
            "<!DOCTYPE d [<!ATTLIST r a CDATA 'xxxxxxxxxx'>]><d>" + String(repeating: "<r/>", count: 100) + "</d>"
        // Each is as if ` a="xxxxxxxxxx"` stood there: 15 bytes.
        #expect(refusal(text) { $0.defaultLength = 1500 } == "")
        #expect(refusal(text) { $0.defaultLength = 1499 }.contains("larger than max_body, 1499 bytes"))
        let written = text.replacing("<r/>", with: "<r a='y'/>")
        #expect(refusal(written) { $0.defaultLength = 0 } == "")
    }

    @Test func elementsOfAnEntityCountWhereverItStands() throws {
        func text(_ count: Int) -> String {
            "<!DOCTYPE d [<!ENTITY e '<r/><r a=\"b\"/>'>]><d>" + String(repeating: "&e;", count: count) + "</d>"
        }
        #expect(try ElementRecorder.events(text(2)).count == 2 + 2 * 4)
        #expect(refusal(text(1000)) { $0.entityExpansion = 2000 }.contains("entities expand to more than 2000 bytes"))
    }

    @Test func declarationsAreLimitedInNumberAndLength() {
        let entities = (0..<20).map { "<!ENTITY e\($0) 'x'>" }.joined()
        #expect(
            refusal("<!DOCTYPE d [\(entities)]><d/>") { $0.declarations = 19 }.contains("more than 19 declarations"))
        let kinds = "<!ELEMENT d ANY><!ATTLIST d a CDATA 'x'><!NOTATION n SYSTEM 'x'>"
        #expect(refusal("<!DOCTYPE d [\(kinds)]><d/>") { $0.declarations = 3 } == "")
        #expect(refusal("<!DOCTYPE d [\(kinds)]><d/>") { $0.declarations = 2 }.contains("more than 2 declarations"))
        let long = "<!DOCTYPE d [" + String(repeating: "<!-- a comment in a declaration -->", count: 5000) + "]><d/>"
        #expect(refusal(long) == "")
        #expect(refusal(long) { $0.declarationLength = 100_000 }.contains("declaration is longer than 100000 bytes"))
    }

    @Test func attributesAndNamespacesOfElementsAreLimited() {
        let attributes = (0..<20).map { " a\($0)=''" }.joined()
        #expect(refusal("<d\(attributes)/>") { $0.attributes = 20 } == "")
        #expect(refusal("<d\(attributes)/>") { $0.attributes = 19 }.contains("more than 19 attributes"))
        let namespaces = (0..<10).map { " xmlns:p\($0)='u'" }.joined()
        #expect(refusal("<d\(namespaces)><e\(namespaces)/></d>") { $0.namespaces = 20 } == "")
        #expect(
            refusal("<d\(namespaces)><e\(namespaces)/></d>") { $0.namespaces = 19 }.contains("more than 19 namespace"))
        // Those of elements that have ended are in force no more.
        let siblings = String(repeating: "<e\(namespaces)/>", count: 100)
        #expect(refusal("<d>\(siblings)</d>") { $0.namespaces = 10 } == "")
        let defaults = (0..<20).map { "<!ATTLIST d a\($0) CDATA 'x'>" }.joined()
        #expect(
            refusal("<!DOCTYPE d [\(defaults)]><d/>") { $0.defaultsOfElement = 19 }.contains("19 attributes by default")
        )
    }

    /// A `timeout` or a signal to stop comes while a piece is parsed, which may be small and make much work.
    @Test func aCancelledTaskEndsThePieceUnderWay() async throws {
        final class Canceller: XMLStreamHandler {
            var count = 0
            override func didStartElement(in stream: XMLStreamParser) {
                count += 1
                if count == 10 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        let task = Task { () -> (Bool, Int) in
            let canceller = Canceller()
            let parser = XMLStreamParser(handler: canceller)
            let text = Array(("<d>" + String(repeating: "<r/>", count: 15_000)).utf8)
            do {
                try text.withUnsafeBytes { try parser.parse($0) }
                return (false, canceller.count)
            } catch {
                return (error is CancellationError, canceller.count)
            }
        }
        let (wasCancelled, count) = await task.value
        #expect(wasCancelled && count < 10_000, "\(count)")
    }

    /// Pieces of a tag that has not ended are held back until they are worth looking through it again.
    @Test(arguments: [16, 1000, 65_536])
    func aLongTagInSmallPiecesIsReadAsAWhole(size: Int) throws {
        let value = String(repeating: "x", count: 150_000)
        let text = "<d a='\(value)'><e>\(value)</e></d>"
        let events = try ElementRecorder.events(text, pieces: size)
        #expect(events == ["<d a=\(value)>", "<e>", "</e \"\(value)\">", "</d \"\">"])
        #expect(throws: XMLStreamError.self) { try ElementRecorder.events("<d a='\(value)", pieces: size) }
    }

    @Test func indentationIsStillDroppedAndTextStillKept() throws {
        #expect(
            try ElementRecorder.events("<a> \n <b/> \n x <b/> \n <b/></a>") == [
                "<a>", "<b>", "</b \"\">", "<b>", "</b \"\">", "<b>", "</b \"\">", "</a \" \n x  \n \">",
            ])
    }
}
