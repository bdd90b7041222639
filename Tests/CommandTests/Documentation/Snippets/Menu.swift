import GRDB
import Tributary

struct Dish: XMLRecord, FeedRecord {
    static let databaseKey = ["id"]
    var id: Int
    var name: String
    var price: Double?
}

struct MenuDaemon: TributaryApp {
    static let parsers: [Parser] = [.record(Dish.self)]
}
