import Foundation

/// Recognition of names of identifiers, in English, German, French, Spanish and Dutch.
enum KeyName {
    /// Names of a record's own identifiers, in order of preference.
    static let own = universal + ["key", "code", "sku"]
    /// Those that identify a record in any document.
    static let universal = ["id", "identifier", "guid", "uuid"]
    /// Numbers that somebody else assigns, and addresses.
    static let assigned = [
        "ean", "gtin", "isbn", "issn", "doi", "recordreference", "loc", "url", "uri", "link", "about", "href",
    ]
    /// Names that are preferred only to names without meaning.
    static let labels = [
        "ref", "reference", "referenz", "referencia", "referentie", "symbol", "number", "no", "nr", "num", "nummer",
        "numero", "codigo", "kennung", "schluessel", "schlussel", "sleutel", "clave", "cle", "mpn", "upc", "name",
        "nom", "nombre", "naam", "bezeichnung", "lang", "language", "currency", "order", "invoice", "ticket",
    ]
    /// The labels that are texts.
    static let texts: Set = ["name", "nom", "nombre", "naam", "bezeichnung"]
    static let times = ["date", "day", "time"]

    /// Returns true for the number or code of an article: `artnr`, `Art.-Nr.`, `item_code`, `product number`,
    /// `numero_article`.
    ///
    /// - Parameter name: in lower case, without separators.
    static func isOfItem(_ name: String) -> Bool {
        name.wholeMatch(of: itemFirst) != nil || name.wholeMatch(of: itemLast) != nil
    }

    /// Returns true for a name that ends in a word for a number or a code: `batch_no`, `supplier_sku`.
    ///
    /// - Parameter snake: the name in lower case, with `_` between its words.
    static func endsInCode(_ snake: String) -> Bool {
        guard let last = snake.split(separator: "_").last, last.count < snake.count else { return false }
        return codes.contains(String(last))
    }

    /// Returns true for a name of money or of a time, whose values may be unique by accident.
    static func isOfAmountOrTime(_ names: [String]) -> Bool {
        MoneyName.isMoney(names) || !measures.isDisjoint(with: names.suffix(1).flatMap(SQLName.words))
    }

    private static let codes: Set = [
        "code", "number", "no", "nr", "nbr", "num", "key", "nummer", "numero", "codigo", "sku", "ean", "gtin", "isbn",
        "uuid", "guid", "kennung",
    ]
    private static let measures: Set = [
        "date", "datum", "fecha", "day", "tag", "jour", "dia", "time", "zeit", "heure", "hora", "tijd", "timestamp",
        "updated", "created", "modified", "changed", "prijs", "stock", "bestand", "quantity", "qty", "menge", "weight",
        "gewicht",
    ]
    // `nonisolated(unsafe)`: a Regex is not Sendable; these are never changed, and matching changes nothing in them.
    nonisolated(unsafe) private static let itemFirst =
        /(art|article|artikel|articulo|item|prod|product|produkt|produit|producto|material|mat|part|teile?|bestell|best|order)(no|nr|nbr|num|number|nummer|numero|id|code|codigo|key|ref|reference|referenz|referencia)/
    nonisolated(unsafe) private static let itemLast =
        /(no|nr|num|numero|id|code|codigo|ref|reference|referencia|cle|clave)(de|del|du)?(art|article|articulo|produit|producto|item|product)/
}

/// Recognition of columns that hold money, by their names: the next document may have cents where this one has none.
enum MoneyName {
    private static let words: Set = [
        "amount", "balance", "betrag", "brutto", "cost", "costs", "discount", "fare", "fee", "fees", "gross", "kosten",
        "montant", "msrp", "net", "netto", "payment", "precio", "preis", "price", "prices", "prix", "prezzo", "rent",
        "revenue", "rrp", "salary", "shipping", "subtotal", "surcharge", "tax", "taxes", "toll", "tip", "turnover",
        "uvp", "vat", "wage",
    ]
    /// Last words of names that are not amounts of money, even beside a word for money.
    private static let counts: Set = [
        "count", "id", "number", "nr", "quantity", "qty", "percent", "code", "type", "year",
    ]

    /// - Parameter names: the names that the value's column is named after, outermost first.
    static func isMoney(_ names: [String]) -> Bool {
        let parts = names.suffix(2).flatMap(SQLName.words)
        return parts.contains(where: words.contains) && !(parts.last.map(counts.contains) ?? true)
    }
}

/// Recognition of codes by their names. They may look like a number in one document, and have a dash, a letter or a
/// second point in the next.
enum CodeName {
    private static let words: Set = [
        "version", "zip", "zipcode", "postcode", "postalcode", "plz", "phone", "telephone", "mobile", "tel", "fax",
        "isbn", "issn", "ean", "gtin", "upc", "iban", "sku",
    ]

    static func isCode(_ name: String) -> Bool { SQLName.words(name).last.map(words.contains) ?? false }
}
