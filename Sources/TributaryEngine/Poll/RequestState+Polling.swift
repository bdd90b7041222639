import FeedModel
import FeedStaging
import FeedStores

extension RequestState {
    /// Returns the state after a 304, which may have brought new metadata for the same rows (RFC 9111, section 4.3.4).
    func updated(by validators: Validators) -> RequestState {
        var state = self
        if let etag = validators.etag { state.validators.etag = etag }
        if let modified = validators.lastModified { state.validators.lastModified = modified }
        return state
    }

    /// Counts how many times in a row permanent redirects have led to the same address.
    ///
    /// - Parameters:
    ///   - movedTo: the address they led to this time; nil if there was no redirect.
    ///   - former: the address that was asked instead of the declared one.
    mutating func note(movedTo: String?, former: String?) {
        if former != nil, movedTo == nil || movedTo == former { return }
        movedTimes = movedTo == nil ? 0 : movedTo == self.movedTo ? movedTimes + 1 : 1
        self.movedTo = movedTo
    }
}
