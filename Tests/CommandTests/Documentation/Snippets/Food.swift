import GRDB
import Tributary

struct Food: XMLRecord, FeedRecord {
    var id: Int
    var name: String
    var calories: Int?
    var course: Course?

    enum Course: String, Codable {
        case starter, main, dessert
    }

    static let databaseKey = ["id"]
    static let xmlPaths = ["id": "@number", "calories": "facts/calories"]
}

/// A program of one's own.
struct FoodDaemon: TributaryApp {
    static let parsers: [Parser] = [.record(Food.self)]
}

/// Without a store.
func decodedFood() throws -> Food {
    let food = try XMLRecordDecoder().decode(
        Food.self, from: "<food number='7'><name>Rice</name><course>main</course></food>")
    return food
}
