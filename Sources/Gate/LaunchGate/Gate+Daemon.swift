import GateProtocol
import Glibc

extension Gate {
    /// Sends a message to the daemon. If the daemon's buffer is full its state would be stale, so it is disconnected
    /// and has to reconnect.
    func send(_ message: GateMessage) {
        guard let daemon, !daemon.send(message) else { return }
        endDaemon("it does not read its messages")
    }

    /// A new connection replaces the old one: the daemon was restarted.
    func acceptDaemon() {
        guard let connection = listener.accept() else { return }
        if daemon != nil { endDaemon("it connected again") }
        do {
            try poller.add(connection.descriptor.number, .daemon)
        } catch {
            return report(error.sentence)
        }
        daemon = connection
        apps.forgetTokens()
        changedApps = []
        let hello = GateMessage.hello(
            version: GateProtocol.version, mode: mode, orphansDenied: orphansDenied, refusal: refusal)
        orphansDenied = 0
        send(hello)
    }

    /// Denies all held launches. Apps stay guarded; their running instances continue.
    func endDaemon(_ reason: String) {
        guard let connection = daemon else { return }
        daemon = nil
        denyAllHeld()
        desktops.removeAll()
        poller.remove(connection.descriptor.number)
        report("the daemon is not connected (\(reason)): every launch of a locked app is denied")
    }

    /// Handles a limited number of messages, so that a long list of apps does not delay launches.
    func receiveFromDaemon() {
        for _ in 0..<64 {
            guard let connection = daemon else { return }
            switch connection.receive() {
            case .nothing: return
            case .end(let reason): return endDaemon(reason)
            case .message(let message):
                if let violation = handle(message, connection) { return endDaemon(violation) }
            }
        }
    }

    /// - Returns: the protocol violation that ends the connection; nil if there is none.
    private func handle(_ message: DaemonMessage, _ connection: DaemonConnection) -> String? {
        if case .hello(let version) = message {
            guard !connection.isGreeted, version == GateProtocol.version else {
                return "it uses version \(version) of the protocol, the gate uses \(GateProtocol.version)"
            }
            connection.isGreeted = true
            return nil
        }
        guard connection.isGreeted else { return "its first message was not hello" }
        switch message {
        case .hello: return nil
        case .settings(let milliseconds, let maximum):
            guard milliseconds > 0 else { return "it set a time limit of 0 ms for launches" }
            answerWithin = UInt64(milliseconds) * 1_000_000
            maximumWaitingPerUser = maximum
        case .beginApp(let token): connection.incoming.begin(token)
        case .appPath(let token, let kind, let path): return connection.incoming.append(path, kind, of: token)
        case .commitApp(let token, let guarded, let sequence):
            guard let paths = connection.incoming.end(token) else {
                return "it committed app \(token) before beginning it"
            }
            commit(token, paths, guarded: guarded, sequence: sequence)
        case .setGuarded(let token, let guarded, let sequence):
            guard let app = apps[token] else { return "it referred to app \(token), which it never sent" }
            setGuarded(app, guarded, sequence: sequence)
        case .forgetApp(let token, let sequence):
            guard let app = apps[token] else { return "it removed app \(token), which it never sent" }
            forget(app)
            send(.applied(token, sequence: sequence, marks: 0, failures: 0))
        case .synchronised: synchronise(connection)
        case .answer(let launch, let allow): answer(launch, allow: allow)
        case .protect(let process): desktops.add(process)
        case .instances(let token, let order):
            guard let app = apps[token] else { return "it ordered instances of app \(token), which it never sent" }
            send(.instancesReached(token, order, count: instances(of: app, order)))
        case .ping(let number): send(.pong(number))
        case .denyWithoutAsking(let users): connection.unaskedUsers = users
        }
        return nil
    }

    /// All apps were sent. Apps of an earlier connection that were not sent again are no longer on the list.
    private func synchronise(_ connection: DaemonConnection) {
        for app in apps.unclaimedApps() { forget(app) }
        fileWatch.keepOnly(apps.apps.values)
        connection.isSynchronised = true
        admitRunning(apps.apps.values.filter(\.isGuarded))
    }
}
