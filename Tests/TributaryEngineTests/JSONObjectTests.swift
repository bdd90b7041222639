import Foundation
import Testing

@testable import TributaryEngine

struct JSONObjectTests {
    @Test func whatIsNilIsLeftOutAndNullIsWrittenWhereItIsAsked() throws {
        let (none, some): (Int?, Int?) = (nil, 4)
        var object: JSONObject = ["none": none, "some": some, "null": none.orNull, "value": some.orNull]
        (object["also"], object["never"]) = (some, none)
        object["some"] = none
        #expect(try JSONOutput.line(object) == #"{"also":4,"null":null,"value":4}"#)
    }

    @Test func membersAreWrittenAsEverywhere() throws {
        let object: JSONObject = [
            "time": Date(timeIntervalSince1970: 0), "path": "a/b", "list": [["x": 1] as JSONObject, [:]],
        ]
        #expect(try JSONOutput.line(object) == #"{"list":[{"x":1},{}],"path":"a/b","time":"1970-01-01T00:00:00Z"}"#)
    }
}
