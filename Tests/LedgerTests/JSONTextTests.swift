import FeedStores
import Testing

struct JSONTextTests {
    @Test(arguments: [[], ["item"], ["a", "b, c", ""], ["a \"b\"", "c\\d", "é/ü"]])
    func textsAreReadAsTheyWereWritten(_ texts: [String]) throws {
        #expect(JSONText.texts(try JSONText.encode(texts)) == texts)
    }

    @Test(arguments: [[:], ["shop": "n"], ["a": "1", "b": ""], ["a\"": "b\\", "c": "é/ü"]])
    func objectsAreReadAsTheyWereWritten(_ object: [String: String]) throws {
        #expect(JSONText.object(try JSONText.encode(object)) == object)
    }

    /// PostgreSQL writes `jsonb` with spaces.
    @Test func spacesBetweenNamesAndValuesDoNotCount() {
        #expect(JSONText.object(#"{"shop": "n", "day": "1"}"#) == ["shop": "n", "day": "1"])
        #expect(JSONText.texts(#"["a", "b"]"#) == ["a", "b"])
    }

    @Test func valuesThatAreNoTextsAreNotReadAsTexts() { #expect(JSONText.object(#"{"shop": 1}"#) == [:]) }
}
