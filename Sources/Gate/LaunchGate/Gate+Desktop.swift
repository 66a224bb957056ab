import GateProtocol

extension Gate {
    /// Denies a launch by the desktop at once, and sends the daemon its exec request, read from the process' memory, so
    /// that it can be repeated later. If the memory can't be read the exec request has no arguments.
    func denyAndKeepExecRequest(
        _ event: PermissionEvent, _ file: FileIdentity, _ app: GuardedApp, _ users: ProcessFacts.Users
    ) {
        // Read before the answer: afterwards the process continues and its memory changes.
        let execRequest = execRequests.read(from: event.process, starting: file)
        let question = question(event, app, users, deniedAtOnce: true)
        deny(event, file)
        send(.launch(question))
        let empty = ExecRequest(path: question.path, directory: Array("/".utf8), arguments: [], environment: [])
        for message in ExecRequest.messages(for: question.launch, carrying: execRequest ?? empty.encoded) {
            send(message)
        }
    }
}
