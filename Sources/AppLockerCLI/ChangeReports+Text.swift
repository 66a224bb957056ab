import WireProtocol

extension AppsChanged {
    /// What was changed, one line an app, and what is worth knowing about it.
    func print(_ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        let paint = Paint(.standard)
        for app in apps {
            Output.standard.line("\(app.name.terminalSafe) (\(app.id.terminalSafe)): \(app.stateText)")
        }
        if apps.isEmpty, notes.isEmpty { Output.standard.line("Nothing had to be changed.") }
        for note in notes { Output.standard.line(paint.warning(note.terminalSafe)) }
    }
}

extension DoneReport {
    /// `sentence`, and what is worth knowing about it.
    func print(_ sentence: String, _ options: OutputOptions) throws {
        if options.json { return try Output.standard.json(self) }
        Output.standard.line(sentence)
        for note in notes { Output.standard.line(Paint(.standard).warning(note.terminalSafe)) }
    }
}
