import GateProtocol
import Glibc

extension Gate {
    func commit(_ token: AppToken, _ paths: [GuardedApp.Path], guarded: Bool, sequence: UInt32) {
        let app = apps.app(token: token, paths: paths)
        let wasGuarded = app.isGuarded
        app.paths = paths
        app.handles = Set(paths.lazy.filter { $0.kind == .handle }.map { FileHandle(bytes: $0.bytes) })
        app.isGuarded = guarded
        let outcome = refreshMarks(of: app)
        // The daemon resolves the link again, and may find more files of the app.
        if leadsToUnknownFile(app) { reportLater(app) }
        if !guarded && wasGuarded { removeMarks(of: app) }
        if guarded && !wasGuarded && daemon?.isSynchronised == true { admitRunning([app]) }
        send(.applied(token, sequence: sequence, marks: outcome.marks, failures: outcome.failures))
    }

    func setGuarded(_ app: GuardedApp, _ guarded: Bool, sequence: UInt32) {
        let wasGuarded = app.isGuarded
        app.isGuarded = guarded
        var outcome = FileMarks.Outcome()
        if guarded {
            outcome = refreshMarks(of: app)
            if !wasGuarded && daemon?.isSynchronised == true { admitRunning([app]) }
        } else {
            removeMarks(of: app)
            reportUnguarded(0, of: app)
        }
        send(.applied(app.token, sequence: sequence, marks: outcome.marks, failures: outcome.failures))
    }

    func forget(_ app: GuardedApp) {
        app.isGuarded = false
        for (token, launch) in held.launches where launch.app === app { answer(token, allow: false) }
        removeMarks(of: app)
        apps.remove(app)
        admitted.forget(app: app.key)
        frozen.remove(app.key)
    }

    /// Resolves the app's paths again. New marks are added before old ones are removed.
    @discardableResult
    func refreshMarks(of app: GuardedApp) -> FileMarks.Outcome {
        var outcome = FileMarks.Outcome()
        var watching = FileWatch.Outcome()
        var rounds = 0
        // Files created before the watch was added raise no event, so the directory is scanned again.
        repeat {
            outcome = marks.apply(app.paths, marking: app.isGuarded)
            if outcome.isIncomplete {
                // Files and directories that could not be scanned stay in the app, with their marks.
                outcome.files.merge(app.files) { now, _ in now }
                outcome.directories.merge(app.directories) { now, _ in now }
                outcome.linkPlaces.formUnion(app.linkPlaces)
            }
            apply(outcome, for: app)
            rounds += 1
            watching = fileWatch.watch(app)
        } while watching.isNew && rounds < Self.maximumRounds
        // What replaces a file there would start without a prompt.
        app.isWatched = watching.missing == 0
        reportUnguarded(app.isGuarded ? outcome.unguarded + watching.missing : 0, of: app)
        if outcome.isIncomplete && app.isGuarded && appsToMarkAgain.insert(app.key).inserted {
            timetable.add(.markAgain(app: app.key), after: Self.shortageDelay)
        }
        return outcome
    }

    private func reportUnguarded(_ count: UInt32, of app: GuardedApp) {
        guard count != app.unguarded else { return }
        app.unguarded = count
        send(.unguarded(app.token, count: count))
    }

    /// The delay before an app is marked again after descriptors or memory were missing, in nanoseconds.
    private static let shortageDelay: UInt64 = 500_000_000

    /// Retries until everything is marked. Each time it sends the daemon an unsolicited `applied`.
    func markAgain(_ key: Int) {
        guard appsToMarkAgain.remove(key) != nil, let app = apps.apps[key], app.isGuarded else { return }
        let outcome = refreshMarks(of: app)
        report(
            outcome.isIncomplete
                ? "files of app \(app.token) are NOT GUARDED: descriptors or memory are missing"
                : "all files of app \(app.token) are guarded again")
        guard apps[app.token] === app else { return }
        send(.applied(app.token, sequence: 0, marks: outcome.marks, failures: outcome.failures))
    }

    /// Bounded, so that a user who creates directories continuously does not delay the gate's answers.
    private static let maximumRounds = 16

    private func apply(_ outcome: FileMarks.Outcome, for app: GuardedApp) {
        let executables = Set(app.paths.lazy.filter { $0.kind == .executable }.map(\.bytes))
        // A link's earlier target stays the app's, like a replaced file.
        let hasLinks = app.paths.contains { $0.kind == .link }
        let staleFiles = app.files.filter {
            outcome.files[$0.key] == nil && !hasLinks && !executables.contains($0.value)
        }
        let staleDirectories = app.directories.filter { outcome.directories[$0.key] == nil }
        apps.setFiles(outcome.files, directories: outcome.directories, of: app) { _, path in
            // A file that was replaced, not removed from the list, stays locked.
            app.isGuarded && (hasLinks || executables.contains(path))
        }
        app.linkPlaces = outcome.linkPlaces
        unmark(staleFiles, staleDirectories, of: app)
        sendHandles(outcome, of: app)
    }

    /// A file that a user can move is found by its handle after a restart; the daemon stores it.
    private func sendHandles(_ outcome: FileMarks.Outcome, of app: GuardedApp) {
        for handle in outcome.handles where app.handles.count < GuardedApp.maximumHandles {
            guard app.handles.insert(handle).inserted else { continue }
            // Found by it too if it is moved while the app is open.
            app.paths.append(GuardedApp.Path(kind: .handle, bytes: handle.bytes))
            send(.file(app.token, isPresent: true, handle: handle.bytes))
        }
        for handle in outcome.goneHandles where app.handles.remove(handle) != nil {
            app.paths.removeAll { $0.kind == .handle && $0.bytes == handle.bytes }
            send(.file(app.token, isPresent: false, handle: handle.bytes))
        }
    }

    private func removeMarks(of app: GuardedApp) { unmark(app.files, app.directories, of: app) }

    private func unmark(
        _ files: [FileIdentity: PathBytes], _ directories: [FileIdentity: PathBytes], of app: GuardedApp
    ) {
        for (file, path) in files where !apps.isNeeded(file, besides: app, isDirectory: false) {
            marks.remove(file, at: path, isDirectory: false)
        }
        for (directory, path) in directories where !apps.isNeeded(directory, besides: app, isDirectory: true) {
            marks.remove(directory, at: path, isDirectory: true)
        }
    }

    /// Files were added, removed or replaced: mark them first, then notify the daemon.
    func noticeChangedFiles() {
        let changes = fileWatch.read()
        for app in apps.apps.values {
            let concerned = changes.places.filter { app.isConcerned(by: $0.path) }
            guard changes.isIncomplete || !concerned.isEmpty else { continue }
            // A new file in a private directory is covered by the mark of the directory.
            let needsMarks = concerned.contains { place in
                place.isDirectory || app.hasPlace(atOrBelow: place.path)
            }
            if changes.isIncomplete || needsMarks { refreshMarks(of: app) }
            reportLater(app)
        }
    }

    /// The interval at which links are resolved without an event, in nanoseconds: not every file system reports
    /// changes, and directories beyond the kernel's limit (fs.inotify.max_user_watches) are not watched.
    static let linkInterval: UInt64 = 60_000_000_000

    func followLinks() {
        refreshAll { app in app.isGuarded && (!app.isWatched || app.paths.contains { $0.kind == .link }) }
    }

    private func leadsToUnknownFile(_ app: GuardedApp) -> Bool {
        guard app.paths.contains(where: { $0.kind == .link }) else { return false }
        let known = Set(app.paths.lazy.filter { $0.kind == .executable }.map(\.bytes))
        return app.files.values.contains { !known.contains($0) }
    }

    /// A file system that is mounted again has lost its marks, and a mount over a path replaces the files there.
    func noticeChangedMounts() { refreshAll { _ in true } }

    private func refreshAll(where isMeant: (GuardedApp) -> Bool) {
        for app in apps.apps.values where isMeant(app) {
            let before = (app.files, app.directories)
            refreshMarks(of: app)
            if before != (app.files, app.directories) { reportLater(app) }
        }
    }

    /// A package manager changes many files at once: the daemon is notified after this delay, in nanoseconds.
    private static let changeDelay: UInt64 = 200_000_000

    private func reportLater(_ app: GuardedApp) {
        guard changedApps.insert(app.key).inserted else { return }
        timetable.add(.reportChanges(app: app.key), after: Self.changeDelay)
    }

    func reportChanges(of key: Int) {
        guard changedApps.remove(key) != nil, let app = apps.apps[key], daemon?.isSynchronised == true,
            apps[app.token] === app
        else { return }
        send(.filesChanged(app.token))
    }
}
