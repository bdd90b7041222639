import Foundation
import Tributary

/// The record that both decode: two attributes, a nested element, a list, a date and an optional among its ten fields.
struct Food: XMLRecord, Equatable {
    struct Nutrition: Codable, Equatable {
        var fat: Double
        var protein: Double
        var salt: Double?
    }

    enum CodingKeys: String, CodingKey {
        case id, kind, name, text, price, calories, vegan, added, nutrition
        case tags = "tag"
        case origin
    }

    var id: Int
    var kind: String
    var name: String
    var text: String
    var price: Double
    var calories: Int
    var vegan: Bool
    var added: Date
    var nutrition: Nutrition
    var tags: [String]
    var origin: String?

    static func element(_ number: Int) -> String {
        """
        <food id="\(number)" kind="grain">
          <name>Basmati rice \(number)</name>
          <text>Long grain &amp; aromatic, as eaten from Karachi to Kathmandu</text>
          <price>\(number % 50).95</price>
          <calories>\(100 + number % 400)</calories>
          <vegan>true</vegan>
          <added>2026-11-21T08:30:00Z</added>
          <nutrition><fat>0.6</fat><protein>3.5</protein><salt>0.01</salt></nutrition>
          <tag>rice</tag><tag>gluten-free</tag><tag>staple</tag>
          <origin>India</origin>
        </food>
        """
    }
}

struct Menu: Codable, Equatable {
    var food: [Food]
}
