/// What the records of one document hold in memory together: those whose elements are open, and those that wait.
final class RecordMemory {
    /// Bytes.
    static let limit = 32 << 20

    @exclusivity(unchecked) private(set) var used = 0

    /// False, and nothing taken, where there is no more.
    func take(_ bytes: Int) -> Bool {
        guard used + bytes <= Self.limit else { return false }
        used += bytes
        return true
    }

    func giveBack(_ bytes: Int) { used -= bytes }
}
