import ArgumentParser

/// A command that needs its program: the parsers and migrations.
protocol ProgramCommand: ParsableCommand {
    func run(_ program: Program) async throws
}
