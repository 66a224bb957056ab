import GateProtocol

extension Gate {
    /// The waiting process belongs to the desktop: what it wanted to start is read from its memory, it is denied at
    /// once, and the daemon gets what is needed to start the same later. Where the memory can't be read the exec request
    /// says that there are no arguments.
    func denyAndKeepExecRequest(
        _ event: PermissionEvent, _ file: FileIdentity, _ app: GuardedApp, _ users: ProcessFacts.Users
    ) {
        // After the answer the process goes on and its memory changes: the only reading that comes before it.
        let execRequest = execRequests.read(from: event.process, starting: file)
        let path = event.path
        deny(event, file)
        let launch = held.newToken()
        let question = LaunchQuestion(
            launch: launch, app: app.token, process: event.process, parent: users.parent, user: users.real,
            loginUser: ProcessFacts.loginUser(event.process), deniedAtOnce: true, path: path)
        send(.launch(question))
        let empty = ExecRequest(path: path, directory: Array("/".utf8), arguments: [], environment: [])
        for message in ExecRequest.messages(for: launch, carrying: execRequest ?? empty.encoded) { send(message) }
    }
}
