/// The state of a store as a whole, from its opening to its end.
package protocol StoreUpkeep: AnyObject, Sendable {
    /// Ends waits for other processes' locks within seconds. Called when the program stops.
    func stopWaiting()

    /// Checks that the store's files are still those that were opened. Readers may not notice if they are not.
    ///
    /// - Throws: ``StoreError`` saying what was deleted or replaced; the program should then end.
    func checkPlace() throws

    /// Tries whether the store can be written, and writes nothing to it. A store that another transaction holds counts
    /// as writable.
    ///
    /// - Throws: ``StoreError`` with the reason why it cannot be written.
    func probe() throws

    /// Returns the bytes that the store takes.
    func size() throws -> Int64

    /// Puts the store in order while nothing is committed.
    func tidy() throws

    /// Closes every connection. The store must not be used afterwards.
    func close() throws
}
