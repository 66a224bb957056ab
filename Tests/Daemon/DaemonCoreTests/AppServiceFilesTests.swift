import ControlAPI
import Foundation
import Policy
import TestSupport
import Testing

@testable import DaemonCore

/// Changes of the files of an app.
@Suite struct AppServiceFilesTests {
    @Test func newFilesOfAnAppAreSentToTheGate() async throws {
        let world = try await World()
        await world.resolver.put(resolved(firefox, executables: ["/usr/bin/firefox", "/usr/lib/firefox/firefox"]))
        world.gate.report(.filesChanged(app: firefox))
        await eventually { world.gate.paths(firefox).count == 2 }
        #expect(world.gate.isGuarded(firefox) == true)
        await eventually { await world.apps.report(firefox).executables.count == 2 }
        await eventually("the files are stored") {
            try await World(after: world).apps.report(firefox).executables.count == 2
        }
    }

    @Test func newFilesAreGuardedEvenIfTheListCannotBeWritten() async throws {
        let world = try await World()
        await world.documents.fail()
        await world.resolver.put(resolved(firefox, executables: ["/opt/new"]))
        world.gate.report(.filesChanged(app: firefox))
        await eventually { world.gate.paths(firefox) == ["/opt/new", "/usr/bin/firefox"] }
    }

    /// A user's desktop entry in their home directory makes the app look like another program.
    @Test func earlierFilesOfAnAppStayGuardedUntilItIsRemoved() async throws {
        let world = try await World()
        await world.resolver.put(resolved(firefox, executables: ["/usr/bin/true"]))
        world.gate.report(.filesChanged(app: firefox))
        await eventually { world.gate.paths(firefox) == ["/usr/bin/true", "/usr/bin/firefox"] }
        await world.resolver.put(resolved(firefox, executables: ["/usr/bin/false"]))
        world.gate.report(.filesChanged(app: firefox))
        let all = ["/usr/bin/false", "/usr/bin/firefox", "/usr/bin/true"]
        await eventually { world.gate.paths(firefox) == all }
        #expect(await world.apps.report(firefox).executables == ["/usr/bin/false"])
        await eventually("the new file is stored") {
            try await World(isGatePresent: false, after: world).apps.report(firefox).executables == ["/usr/bin/false"]
        }
        let next = try await World(after: world)
        await eventually("the next gate receives all files") { next.gate.paths(firefox) == all }
        // Two missing marks may be those of earlier files; a third one is that of the current file.
        next.gate.report(.marksMissing(app: firefox, count: 2))
        next.gate.report(.marksMissing(app: calculator, count: 1))
        await eventually { await next.apps.appsWithMissingMarks == [calculator] }
        next.gate.report(.marksMissing(app: firefox, count: 3))
        await eventually { await next.apps.appsWithMissingMarks == [calculator, firefox] }
        _ = try await next.apps.remove("firefox", user: 1)
        _ = try await next.apps.add("firefox", user: 1)
        #expect(next.gate.paths(firefox) == ["/usr/bin/false"])
    }

    /// Earlier files of the app don't hide that an existing file could not be marked.
    @Test func aFileThatCannotBeMarkedIsReported() async throws {
        let world = try await World()
        await world.resolver.put(resolved(firefox, executables: ["/usr/bin/true"]))
        world.gate.report(.filesChanged(app: firefox))
        await eventually { world.gate.paths(firefox) == ["/usr/bin/true", "/usr/bin/firefox"] }
        world.gate.report(.unguarded(app: firefox, count: 1))
        world.gate.report(.marksMissing(app: firefox, count: 1))
        await eventually { await world.control.statusReader.status(of: alice).unguardedApps == ["firefox"] }
        let sentence = "Firefox can start without a prompt: one of its files or directories could not be guarded."
        #expect(await world.control.statusReader.status(of: alice).degraded.contains(sentence))
        #expect(await world.control.statusReader.sessionState(of: alice.user).protection == .degraded)
        await eventually { try await world.events(.marksMissing).map(\.sentence) == [sentence] }
        world.gate.report(.unguarded(app: firefox, count: 0))
        await eventually { await world.control.statusReader.status(of: alice).unguardedApps.isEmpty }
    }

    /// The gate reports handles of files that a user can move, and receives them again after its next start.
    @Test func handlesOfMovableFilesAreStored() async throws {
        let world = try await World()
        for number in 1...200 {
            world.gate.report(.file(app: firefox, isPresent: true, handle: [UInt8(number)]))
        }
        world.gate.report(.file(app: firefox, isPresent: false, handle: [7]))
        world.gate.report(.file(app: app("gone"), isPresent: true, handle: [1]))
        let kept = Set((1...200).filter { $0 != 7 }.map { Data([UInt8($0)]) })
        await eventually {
            let next = try await World(isGatePresent: false, after: world)
            return await Set(next.apps.stored.resolved[firefox]?.handles ?? []) == kept
        }
        // A new look-up of the files keeps the handles.
        await world.resolver.put(resolved(firefox, executables: ["/opt/new"]))
        world.gate.report(.filesChanged(app: firefox))
        await eventually { await world.apps.stored.resolved[firefox]?.executables == ["/opt/new"] }
        #expect(await Set(world.apps.stored.resolved[firefox]?.handles ?? []) == kept)
    }

    @Test func aLinkIsStoredAndItsTargetIsLookedUp() async throws {
        let world = try await World()
        var editor = resolved(app("exec:opt-editor-1-run"), executables: ["/opt/editor/1/run"])
        editor.links = ["/opt/editor/current/run"]
        await world.resolver.put(editor)
        _ = try await world.apps.add(editor.id.rawValue, user: 1)
        // The name still resolves to the earlier version, the link to a newer one.
        editor.links = []
        await world.resolver.put(editor)
        await world.resolver.put(
            resolved(app("exec:opt-editor-2-run"), executables: ["/opt/editor/2/run"]),
            named: "/opt/editor/current/run")
        world.gate.report(.filesChanged(app: editor.id))
        await eventually { world.gate.paths(editor.id) == ["/opt/editor/1/run", "/opt/editor/2/run"] }
        #expect(await world.apps.stored.resolved[editor.id]?.links == ["/opt/editor/current/run"])
        // A link to a program that the system needs is dropped.
        await world.resolver.put(resolved(app("sh")), named: "/opt/editor/current/run", isEssential: true)
        world.gate.report(.filesChanged(app: editor.id))
        await eventually { await world.apps.stored.resolved[editor.id]?.links == [] }
        #expect(world.gate.paths(editor.id).contains("/opt/editor/2/run"))
    }

    @Test func anUninstalledAppStaysLocked() async throws {
        let world = try await World(listed: [firefox, app("gone")])
        world.gate.report(.filesChanged(app: app("gone")))
        world.gate.report(.marksMissing(app: app("gone"), count: 1))
        await eventually { await world.apps.appsWithMissingMarks == [app("gone")] }
        #expect(await world.apps.report(app("gone")).executables == ["/usr/bin/gone"])
        #expect(world.gate.isGuarded(app("gone")) == true)
    }

    @Test func lookingUpAnAppDelaysNoLaunch() async throws {
        let world = try await World()
        var prompter = try await world.join()
        await world.resolver.hold()
        world.gate.report(.filesChanged(app: firefox))
        let prompt = try await world.prompt(for: world.launch(1), &prompter)
        #expect(prompt.app == "firefox")
        await world.resolver.release()
    }

    @Test func aLookUpThatEndsAfterItsAppWasRemovedHasNoEffect() async throws {
        let world = try await World()
        await world.resolver.put(resolved(firefox, executables: ["/opt/new"]))
        await world.resolver.hold()
        world.gate.report(.filesChanged(app: firefox))
        // The gate's events are handled in order: this one is done once the look-up of the other runs.
        world.gate.report(.marksMissing(app: calculator, count: 2))
        await eventually { await world.apps.appsWithMissingMarks == [calculator] }
        _ = try await world.apps.remove("firefox", user: 1)
        world.gate.forgetActions()
        await world.resolver.release()
        _ = try await world.apps.unlock([calculator], scope: .untilLocked, user: 1)
        #expect(!world.gate.actions.contains { $0.hasPrefix("set firefox") })
    }
}
