import ArgumentParser

@testable import AppLockerCLI

extension AppLockerCommand {
    /// The words of every visible command that does more than group others.
    static var everyCommand: [[String]] {
        func paths(_ command: any ParsableCommand.Type, _ words: [String]) -> [[String]] {
            let configuration = command.configuration
            let inner = configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)
            guard !inner.isEmpty else { return configuration.shouldDisplay ? [words] : [] }
            return inner.flatMap { paths($0, words + [$0._commandName]) }
        }
        return paths(Self.self, [])
    }

    static func helpText(_ words: [String]) -> String {
        var command: any ParsableCommand.Type = Self.self
        for word in words {
            let configuration = command.configuration
            let inner = configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)
            guard let next = inner.first(where: { $0._commandName == word }) else { return "" }
            command = next
        }
        return helpMessage(for: command, includeHidden: false, columns: 100)
    }
}
