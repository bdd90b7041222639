import ArgumentParser

/// A command that needs to know which program it is part of.
protocol ProgramCommand: ParsableCommand {
    func run(_ program: Program) async throws
}
