/// Recognition of columns that hold money, by their names: the next document may have cents where this one has none.
enum MoneyName {
    private static let words: Set = [
        "amount", "balance", "betrag", "brutto", "cost", "costs", "discount", "fare", "fee", "fees", "gross", "kosten",
        "montant",
        "msrp", "net", "netto", "payment", "precio", "preis", "price", "prices", "prix", "prezzo", "rent", "revenue",
        "rrp",
        "salary", "shipping", "subtotal", "surcharge", "tax", "taxes", "toll", "tip", "turnover", "uvp", "vat", "wage",
    ]
    /// Last words of names that are not amounts of money, even beside a word for money.
    private static let counts: Set = [
        "count", "id", "number", "nr", "quantity", "qty", "percent", "code", "type", "year",
    ]

    /// - Parameter names: the names that the value's column is named after, outermost first.
    static func isMoney(_ names: [String]) -> Bool {
        let parts = names.suffix(2).flatMap { SQLName.snakeCase($0).split(separator: "_").map(String.init) }
        return parts.contains(where: words.contains) && !(parts.last.map(counts.contains) ?? true)
    }
}
