import ArgumentParser
import ControlAPI
import LocalControl

struct CategoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "category",
        abstract: "Group apps so that one schedule applies to all of them.",
        subcommands: [List.self, Set.self, Remove.self])

    private static func validate(_ name: String) throws {
        guard !name.isEmpty else { throw ValidationError("A category's name can't be empty.") }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the categories.",
            discussion: """
                  applocker category list
                """)

        @OptionGroup var connection: ConnectionOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let list = try await connection.client.call(\.listCategories)
            if output.json { return try Output.standard.json(list) }
            guard !list.categories.isEmpty else {
                return Output.standard.line(
                    "There are no categories. Create one with `applocker category set NAME APP…`.")
            }
            var table = Table(["NAME", "SCHEDULE", "APPS"])
            for category in list.categories {
                table.add([category.name, category.schedule ?? "always", category.apps.joined(separator: ", ")])
            }
            Output.standard.lines(table.lines(Paint(.standard)))
        }
    }

    struct Set: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a category, or replace its apps.",
            discussion: """
                The apps must be on the list. An app's own schedule overrides its categories'.

                  applocker category set games steam chess
                  applocker schedule set --category games "allow weekends 14:00-18:00"
                """)

        @Argument(help: "The category's name.") var name: String
        @Argument(help: "All its apps.") var apps: [String]
        @OptionGroup var options: CommonOptions

        func validate() throws { try CategoryCommand.validate(name) }

        func run() async throws {
            let request = SetCategoryRequest(apps: apps.map { AppNames.resolved($0) })
            try await owner.call(\.setCategory, parameter: name, body: request).print(output)
        }
    }

    struct Remove: ConnectedCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a category; its apps stay on the list.",
            discussion: """
                  applocker category remove games
                """)

        @Argument(help: "The category's name.") var name: String
        @OptionGroup var options: CommonOptions

        func validate() throws { try CategoryCommand.validate(name) }

        func run() async throws {
            let done = try await owner.call(\.removeCategory, parameter: name)
            try done.print("The category \(name.terminalSafe) is removed; its apps stay on the list.", output)
        }
    }
}

extension CategoryReport {
    func print(_ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        let apps = apps.isEmpty ? "no apps" : apps.joined(separator: ", ")
        Output.standard.line("\(name): \(apps); \(schedule ?? "always locked")".terminalSafe)
    }
}
