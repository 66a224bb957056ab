import ControlAPI

extension AppsChanged {
    /// Prints the changes, one line an app, and their notes.
    /// - Parameter outcome: what the line says of an app; usually its state.
    func print(_ options: OutputOptions, outcome: (AppReport) -> String = \.stateText) throws {
        if options.json { return try Output.standard.json(self) }
        let paint = Paint(.standard)
        for app in apps {
            Output.standard.line("\(app.name.terminalSafe) (\(app.id.terminalSafe)): \(outcome(app).terminalSafe)")
        }
        if apps.isEmpty, notes.isEmpty { Output.standard.line("Nothing to change.") }
        for note in notes { Output.standard.line(paint.warning(note.terminalSafe)) }
    }
}

extension DoneReport {
    /// Prints `sentence` and the notes.
    func print(_ sentence: String, _ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        Output.standard.line(sentence)
        for note in notes { Output.standard.line(Paint(.standard).warning(note.terminalSafe)) }
    }
}
