import FeedModel
import Foundation
import Testing

@testable import FeedParsing

/// Conditions on changes, over the rows before and after.
@Suite struct ChangeConditionTests {
    private typealias Row = [(String, StoredValue)]

    private static let types = [
        "id": "INTEGER", "weight": "", "price": "numeric(10,2)", "name": "TEXT", "seen": "timestamp",
    ]

    private static func images(_ before: Row?, _ after: Row?) -> RowImages {
        func values(_ row: Row?) -> [RowImages.Value]? { row?.map { RowImages.Value($0.0, $0.1) } }
        return RowImages(before: values(before), after: values(after), types: types)
    }

    /// Returns whether a condition holds; nil and a message where it fails.
    private func holds(_ sql: String, _ operation: String = "update", _ before: Row? = nil, _ after: Row? = nil)
        -> (Bool?, String)
    {
        let change = ChangelogEntry(
            id: 1, table: "product", key: .integer(7), operation: operation, images: Self.images(before, after))
        do throws(ChangeCondition.Failure) {
            return (try ChangeCondition(sql).holds(for: change), "")
        } catch {
            return (nil, error.description)
        }
    }

    private func problem(_ sql: String) -> String {
        do throws(ChangeCondition.Failure) {
            _ = try ChangeCondition(sql)
            return ""
        } catch {
            return error.description
        }
    }

    @Test func valuesAreComparedAsTheirColumnsCompareThem() {
        let (cheap, dear): (Row, Row) = ([("price", .text("9.50"))], [("price", .integer(11))])
        #expect(holds("abs(new.price - old.price) > 0.2 * old.price", "update", cheap, dear).0 == false)
        #expect(holds("abs(NEW.Price - OLD.price) > 0.1 * old.price", "update", cheap, dear).0 == true)
        #expect(holds("new.price > old.price", "update", cheap, dear).0 == true)
        #expect(holds("old.price < 10", "update", cheap, dear).0 == true)
        #expect(holds("new.\"price\" IS NOT old.[price]", "update", cheap, dear).0 == true)
        #expect(holds("new.name REGEXP '^n'", "insert", nil, [("name", .text("nut"))]).0 == true)
        #expect(holds("new.name = ''", "insert", nil, [("name", .text(""))]).0 == true)
        #expect(holds("new.name = x''", "insert", nil, [("name", .blob(Data()))]).0 == true)
        #expect(holds("new.weight > 9", "insert", nil, [("weight", .text("10.0000000000000000001"))]).0 == true)
        // A condition without columns is one, too.
        #expect(holds("0").0 == false && holds("1").0 == true && holds("NULL").0 == false)
    }

    @Test func anAbsentRowIsNull() {
        let row: Row = [("price", .real(2))]
        #expect(holds("new.price > old.price", "insert", nil, row).0 == false)
        #expect(holds("old.price IS NULL", "insert", nil, row).0 == true)
        #expect(holds("new.price IS NULL", "delete", row, nil).0 == true)
        #expect(holds("coalesce(new.price, 0) < old.price", "delete", row, nil).0 == true)
    }

    /// Nothing is lost where a row is not known, as without a history.
    @Test func aRowThatIsNotKnownPasses() {
        let row: Row = [("price", .real(2))]
        #expect(holds("old.price > 100", "update", nil, row).0 == true)
        #expect(holds("new.price > 100", "update", nil, row).0 == false)
        #expect(holds("new.price > 100", "update", row, nil).0 == true)
        #expect(holds("old.price > 100", "delete", nil, nil).0 == true)
        let long = StoredValue.text(String(repeating: "x", count: 17 << 20))
        #expect(holds("new.name = 'x'", "insert", nil, [("name", long)]).0 == true)
    }

    @Test func whatIsNoConditionIsNamed() {
        #expect(problem("price > 1").contains("write new.price for the row after the change"))
        #expect(problem("new.price > price").contains("ambiguous column name: price; write new. or old. before it"))
        #expect(problem("row.price > 1").contains("write new.price"))
        #expect(problem("new.price >").contains("is not an SQL expression"))
        #expect(problem("new.price > (SELECT 1)").contains("no subquery is allowed"))
        #expect(problem("EXISTS (SELECT new.price)").contains("no subquery is allowed"))
        #expect(problem("new.price > ?").contains("has a parameter"))
        #expect(
            problem("count(*) > 1").contains("misuse of aggregate") || problem("count(*) > 1").contains("aggregate"))
        #expect(problem("random() > 1").contains("'random' must not be used"))
        #expect(problem("pretty(new.name)").contains("SQLite has no function 'pretty'"))
        #expect(problem("new.name > date('now')").contains("now"))
        #expect(problem("new.name REGEXP '('").contains("'('") || problem("new.name REGEXP '('").contains("pattern"))
        #expect(problem("1) OR (1").isEmpty)
        #expect(problem("1; DROP TABLE old").contains("is no"))
        #expect(problem("printf('%99999d', new.id)").contains("printf"))
        #expect(holds("new.colour = 'red'", "insert", nil, []).1 == "table 'product' has no column 'colour'")
        #expect(holds("new.rowid = 1", "insert", nil, []).1 == "table 'product' has no column 'rowid'")
        #expect(
            holds("split_part(new.name, ',', 0)", "insert", nil, [("name", .text("a"))]).1.hasPrefix(
                "fails for the row 7 of table 'product': split_part counts"))
    }
}
