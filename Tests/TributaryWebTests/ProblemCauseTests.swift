import Testing

@testable import TributaryWeb

/// What the errors of several sources have in common.
struct ProblemCauseTests {
    @Test(
        arguments: [
            (
                "request 'a': http://a.example:80/x?y=1: status 503, after 12 s",
                "request '…': …: status 503, after … s", "a.example:80"
            ),
            ("https://b.example: 4711 of \"x", "…: … of \"…\"", "b.example"),
            ("line 7, column 12345: no end", "line …, column …: no end", nil),
            ("", "", nil), ("http", "http", nil), ("http://", "…", nil), ("'", "'…'", nil),
        ] as [(String, String, String?)])
    func addressesQuotedTextsAndNumbersAreLeftOut(_ error: String, _ text: String, _ host: String?) {
        let cause = ProblemCause(error)
        #expect(cause.text == text)
        #expect(cause.host == host)
    }

    @Test func aLongErrorIsCut() {
        let cause = ProblemCause(String(repeating: "é", count: 100_000))
        #expect(cause.text.utf8.count <= 400)
    }

    @Test func theMostFrequentIsCounted() {
        let causes = ["x 503", "x 503", "x 404", nil].map { $0.map { ProblemCause($0) } }
        let list = CauseList(causes)
        #expect(list.count(of: causes[0]) == 2 && list.count(of: causes[2]) == 1 && list.count(of: nil) == 0)
    }
}
