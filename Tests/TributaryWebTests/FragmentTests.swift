import Testing

@testable import TributaryWeb

struct FragmentTests {
    private func list(_ rows: [(id: String, text: String)], start: String = "<ul>") -> Fragment {
        Fragment("list", start, rows.map { Fragment($0.id, "<li>\($0.text)</li>") }, "</ul>")
    }

    @Test func onlyWhatDiffersIsSent() {
        let former = list([("a", "1"), ("b", "2")])
        #expect(list([("a", "1"), ("b", "2")]).changes(since: former).isEmpty)
        #expect(list([("a", "1"), ("b", "3")]).changes(since: former) == [Fragment("b", "<li>3</li>")])
    }

    @Test func aPartIsSentWholeWhereItsShapeDiffers() {
        let former = list([("a", "1"), ("b", "2")])
        for fragment in [
            list([("a", "1")]), list([("b", "2"), ("a", "1")]), list([("a", "1"), ("b", "2")], start: "<ol>"),
        ] {
            #expect(fragment.changes(since: former) == [fragment])
        }
        #expect(former.html == "<ul><li>1</li><li>2</li></ul>")
    }
}
