import FeedModel
import TOML

extension DeclarationReader {
    /// Returns a number of rows, or a part of them such as `"50%"`.
    func changeLimit(_ key: String) -> ChangeLimit? {
        let found = value(key, "a number of rows, or a part such as \"50%\"") { value in
            switch value {
            case .string(let text): text
            case .integer(let number): String(number)
            default: nil
            }
        }
        guard let found else { return nil }
        guard let limit = ChangeLimit(found) else {
            report(key, "expected a number of rows, or a part from \"0%\" to \"100%\", found '\(found)'")
            return nil
        }
        return limit
    }
}
