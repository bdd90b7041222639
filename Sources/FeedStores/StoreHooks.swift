package import FeedModel

/// What a main store remembers of hooks: how far each has come. What they are told is read from the runs, so that a
/// commit pays nothing for them.
package protocol StoreHooks: AnyObject, Sendable {
    /// Returns the states of all hooks, by name.
    func hookStates() throws -> [String: HookState]

    func hookState(_ name: String) throws -> HookState?

    /// Makes hooks known that are new, which begin with what comes now, and forgets all others. While another daemon runs on
    /// the store, none is forgotten: it may have another file, which declares it.
    ///
    /// - Returns: the names of those that are forgotten.
    func declareHooks(_ names: Set<String>) throws -> [String]

    /// Takes or keeps the right to deliver what a hook is told, which one process has at a time. It ends with the process,
    /// or soon after it.
    ///
    /// - Returns: false while another process has it.
    func holdHook(_ name: String) throws -> Bool

    func releaseHook(_ name: String) throws

    /// Returns what a hook knows of sources, by their names.
    func hookMemories(_ name: String) throws -> [String: HookMemory]

    /// - Throws: ``StoreError`` where the right to deliver has gone to another process.
    func advanceHook(_ name: String, _ progress: HookProgress) throws

    /// Lets an event that could not be delivered be sent again at once, also where its receiver was gone.
    ///
    /// - Returns: false where there is none.
    func retryHook(_ name: String) throws -> Bool

    /// - Throws: ``StoreError`` where the right to deliver has gone to another process.
    func noteFailure(ofHook name: String, _ failure: HookFailure) throws
}
