import ControlAPI
import Foundation
import Policy

// The files of apps: the gate's reports about them, and the files that apps had before.
extension AppService {
    /// Paths that an app had at earlier lookups and no longer has. They stay locked: a user can edit their own desktop
    /// entry, or move a program, so that the app seems to consist of other files.
    struct FormerPaths: Codable, Hashable {
        var executables: [String] = []
        var privateDirectories: [String] = []
        static let maximum = 256

        /// Adds the paths of `known` that `found` lacks. Only the newest are kept.
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
        // Former files may have been removed.
        let count = max(0, count - (stored.former[id]?.count ?? 0))
        missingMarks[id] = count == 0 ? nil : count
        changes.mark()
        guard count > 0 else { return }
        await log.append(
            .marksMissing, app: id,
            count == 1
                ? "A file of \(id) could not be guarded; it may have been removed."
                : "\(count) files of \(id) could not be guarded; they may have been removed.")
    }

    var appsWithMissingMarks: [AppID] { missingMarks.keys.filter { unguarded[$0] == nil }.sorted() }

    /// Counts former files too: a file that exists and can't be marked can be started.
    func setUnguarded(_ count: Int, of id: AppID) async {
        unguarded[id] = count == 0 ? nil : count
        changes.mark()
        guard count > 0 else { return }
        await log.enqueue(.marksMissing, app: id, unguardedSentence(id))
    }

    var unguardedApps: [AppID] { unguarded.keys.sorted() }

    func unguardedSentence(_ id: AppID) -> String {
        let count = unguarded[id] ?? 0
        return count == 1
            ? "\(name(of: id)) can start without a prompt: one of its files or directories could not be guarded."
            : "\(name(of: id)) can start without a prompt: \(count) of its files or directories could not be guarded."
    }

    /// Looks an app up again after its package was upgraded or removed. Its earlier files stay locked, so that
    /// restoring them does not open the app. Only removing the app from the list unlocks them.
    ///
    /// New files are guarded even if they can't be stored. The next start then guards the old ones, and the gate's
    /// first report of a change leads to the new ones again.
    func filesChanged(_ id: AppID) async {
        guard let known = stored.resolved[id], let found = await lookUp(known) else { return }
        do {
            try await serialQueue.perform {
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
                await synchronizeGate()
                try await write(stored)
            }
        } catch {
            await log.append(.marksMissing, app: id, "The new files of \(id) could not be recorded: \(error)")
        }
    }

    /// The app as it is now, with the current targets of its links. Nil if nothing of it is found.
    private func lookUp(_ known: ResolvedApp) async -> ResolvedApp? {
        var found = try? await resolver.resolve(known.id.rawValue, user: known.user)
        if found?.id != known.id { found = nil }
        var app = found ?? known
        var isFound = found != nil
        // An app that was added by a link is looked up by the id of the link's first target, so the link is kept here.
        for link in known.links where !app.links.contains(link) { app.links.append(link) }
        app.links = app.links.suffix(FormerPaths.maximum)
        for link in app.links {
            do {
                let target = try await resolver.resolve(link, user: known.user)
                isFound = true
                app.executables += target.executables.filter { !app.executables.contains($0) }
                app.privateDirectories += target.privateDirectories.filter { !app.privateDirectories.contains($0) }
            } catch let error as ControlError where error.code == .essential {
                // The link leads to a file that the system needs. Its earlier target stays locked.
                isFound = true
                app.links.removeAll { $0 == link }
            } catch {}
        }
        return isFound ? app : nil
    }

    /// Stores the handle of a file that a user can move, so that the gate finds the file after its next start. Many
    /// handles are written together.
    func note(_ handle: [UInt8], of id: AppID, isPresent: Bool) {
        changedHandles[id, default: [:]][Data(handle)] = isPresent
        guard changedHandles.count == 1, changedHandles[id]?.count == 1 else { return }
        Task {
            do {
                try await serialQueue.perform { try await writeHandles() }
            } catch {
                await log.append(.marksMissing, "The locations of movable files could not be written: \(error)")
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
