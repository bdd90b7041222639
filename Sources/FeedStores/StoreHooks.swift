package import FeedModel

/// The hooks of a main store: the position of each. Events are derived from the runs, so a commit pays nothing for
/// hooks.
package protocol StoreHooks: AnyObject, Sendable {
    /// Returns the states of all hooks, by name.
    func hookStates() throws -> [String: HookState]

    func hookState(_ name: String) throws -> HookState?

    /// Registers new hooks, which begin with the next run, and deletes all others. While another daemon runs on the
    /// store, none is deleted: its file may declare the hook.
    ///
    /// - Returns: the names of the deleted hooks.
    func declareHooks(_ names: Set<String>) throws -> [String]

    /// Takes or keeps the right to deliver a hook's events. One process has it at a time; it ends with the process,
    /// or soon after it.
    ///
    /// - Returns: false while another process has it.
    func holdHook(_ name: String) throws -> Bool

    func releaseHook(_ name: String) throws

    /// Returns the conditions that a hook was notified of, by source.
    func hookMemories(_ name: String) throws -> [String: HookMemory]

    /// - Throws: ``StoreError`` if the right to deliver has gone to another process.
    func advanceHook(_ name: String, _ progress: HookProgress) throws

    /// Lets an event that could not be delivered be sent again at once, also where its receiver was gone.
    ///
    /// - Returns: false where there is none.
    func retryHook(_ name: String) throws -> Bool

    /// - Throws: ``StoreError`` if the right to deliver has gone to another process.
    func noteFailure(ofHook name: String, _ failure: HookFailure) throws
}
