import Foundation
import Policy
import WireProtocol

// The files of apps: what the gate reports of them, and what they were before.
extension AppService {
    /// What an app was made of when it was looked up before, and no longer is. It stays locked: a user can edit a desktop
    /// entry of theirs, or move a program, and so have the app look as if it were something else.
    struct FormerPaths: Codable, Hashable {
        var executables: [String] = []
        var privateDirectories: [String] = []
        static let maximum = 256

        /// Takes in what `found` no longer has of `known`; the newest are kept.
        mutating func add(_ known: ResolvedApp, replacedBy found: ResolvedApp) {
            executables = Self.union(executables, known.executables, without: found.executables)
            privateDirectories = Self.union(
                privateDirectories, known.privateDirectories, without: found.privateDirectories)
        }

        private static func union(_ former: [String], _ known: [String], without found: [String]) -> [String] {
            let found = Set(found)
            let all = former.filter { !known.contains($0) } + known
            return Array(all.filter { !found.contains($0) }.suffix(maximum))
        }

        var count: Int { executables.count + privateDirectories.count }
    }

    func marksAreMissing(_ id: AppID, count: Int) async {
        // What it was made of before may well be gone.
        let count = max(0, count - (stored.former[id]?.count ?? 0))
        missingMarks[id] = count == 0 ? nil : count
        changes.mark()
        guard count > 0 else { return }
        await log.record(
            .marksMissing, app: id, "\(count) files of \(id) could not be guarded; they may have been removed.")
    }

    var appsWithMissingMarks: [AppID] { missingMarks.keys.filter { unguarded[$0] == nil }.sorted() }

    /// Whatever the app was made of before: a file that is there and can't be marked is one that starts.
    func setUnguarded(_ count: Int, of id: AppID) async {
        unguarded[id] = count == 0 ? nil : count
        changes.mark()
        guard count > 0 else { return }
        await log.note(.marksMissing, app: id, unguardedSentence(id))
    }

    var unguardedApps: [AppID] { unguarded.keys.sorted() }

    func unguardedSentence(_ id: AppID) -> String {
        let count = unguarded[id] ?? 0
        return
            "\(name(of: id)) can start without a question: \(count) of its files or directories could not be guarded."
    }

    /// A package was upgraded or removed: the app is looked up again. What was known of it stays locked in any case, so
    /// that putting it back does not open it; only taking the app off the list ends that.
    ///
    /// New files are guarded even where that can't be written: the next start looks at the old ones, and the gate's
    /// first report of a change brings the new ones back.
    func filesChanged(_ id: AppID) async {
        guard let known = stored.resolved[id], let found = await lookUp(known) else { return }
        do {
            try await turns.perform {
                guard let known = stored.resolved[id], stored.policy.apps[id] != nil else { return }
                var found = found
                found.handles = known.handles
                guard
                    found.executables != known.executables || found.privateDirectories != known.privateDirectories
                        || found.links != known.links
                else { return }
                stored.former[id, default: FormerPaths()].add(known, replacedBy: found)
                stored.resolved[id] = found
                guarded[id] = nil
                await bringGateInStep()
                try await write(stored)
            }
        } catch {
            await log.record(.marksMissing, app: id, "The new files of \(id) could not be recorded: \(error)")
        }
    }

    /// An app as it is now, with what its links lead to by now. Nil where nothing of it can be found.
    private func lookUp(_ known: ResolvedApp) async -> ResolvedApp? {
        var found = try? await resolver.resolve(known.id.rawValue, user: known.user)
        if found?.id != known.id { found = nil }
        var app = found ?? known
        var isFound = found != nil
        // One that was asked for by a link is looked up by the name of what that led to first: the link is kept here.
        for link in known.links where !app.links.contains(link) { app.links.append(link) }
        app.links = app.links.suffix(FormerPaths.maximum)
        for link in app.links {
            do {
                let target = try await resolver.resolve(link, user: known.user)
                isFound = true
                app.executables += target.executables.filter { !app.executables.contains($0) }
                app.privateDirectories += target.privateDirectories.filter { !app.privateDirectories.contains($0) }
            } catch let error as ControlError where error.code == .essential {
                // It leads to what the system can't do without. What it led to before stays locked.
                isFound = true
                app.links.removeAll { $0 == link }
            } catch {}
        }
        return isFound ? app : nil
    }

    /// Keeps what a user can move, so that the gate finds it again after its next start, wherever it is by then. Many
    /// at a time are written together.
    func note(_ handle: [UInt8], of id: AppID, isPresent: Bool) {
        changedHandles[id, default: [:]][Data(handle)] = isPresent
        guard changedHandles.count == 1, changedHandles[id]?.count == 1 else { return }
        Task {
            do {
                try await turns.perform { try await writeHandles() }
            } catch {
                await log.record(.marksMissing, "Where files are that users can move could not be written: \(error)")
            }
        }
    }

    private func writeHandles() async throws {
        let changed = changedHandles
        changedHandles = [:]
        for (id, handles) in changed where stored.resolved[id] != nil {
            let known = stored.resolved[id]!.handles.filter { handles[$0] != false }
            stored.resolved[id]!.handles = known + handles.filter { $0.value && !known.contains($0.key) }.keys
        }
        try await write(stored)
    }
}
