import AppCatalog
import ControlAPI
import DaemonCore
import Foundation
import Household
import Policy

/// Looks apps up in the catalog of the user who asks.
struct CatalogResolver: AppResolver {
    let processes: SystemProcesses
    /// Of AppLocker itself: they can't be locked.
    let ownFiles: [String]
    /// The catalog reads files and blocks.
    private let queue = DispatchQueue(label: "catalog", qos: .userInitiated)

    func resolve(_ references: [String], user: UInt32) async -> [Result<ResolvedApp, ControlError>] {
        let catalog = catalog(of: user)
        let found = await onQueue { catalog.find(all: references) }
        return found.map { result in
            result.mapError { ControlError($0) }.flatMap { app in
                if let refusal = app.lockRefusal { return .failure(ControlError(.essential, refusal.sentence)) }
                return .success(ResolvedApp(app, user: user))
            }
        }
    }

    func installed(user: UInt32) async -> (apps: [ResolvedApp], problems: [String]) {
        let catalog = catalog(of: user)
        let listing = await onQueue { catalog.installed() }
        return (listing.apps.map { ResolvedApp($0, user: user) }, listing.problems.map(\.description))
    }

    func lockable(user: UInt32) async -> [OtherApp] {
        let catalog = catalog(of: user)
        let listing = await onQueue { catalog.installed() }
        return listing.apps.filter { $0.lockRefusal == nil }.map {
            OtherApp(id: $0.id.rawValue, name: $0.name)
        }
    }

    func icons(named names: [String: String], user: UInt32) async -> [RemoteIcon] {
        let catalog = catalog(of: user)
        return await onQueue {
            names.compactMap { app, name in
                catalog.icon(name).map { RemoteIcon(app: app, type: $0.format.rawValue, data: Data($0.bytes)) }
            }
        }
    }

    /// Variables of the daemon's own environment are looked at, so that a test can bring its own applications.
    private func catalog(of user: UInt32) -> AppCatalog {
        let environment = CatalogEnvironment(
            home: processes.home(user) ?? "/nonexistent", variables: ProcessInfo.processInfo.environment)
        return AppCatalog(
            environment: environment, essential: Essential(environment: environment, ownFiles: ownFiles))
    }

    private func onQueue<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }
}

extension ResolvedApp {
    fileprivate init(_ app: InstalledApp, user: UInt32) {
        self.init(
            id: app.id, name: app.name, icon: app.icon, kind: app.kind.rawValue, user: user,
            executables: app.executables.map(\.path), privateDirectories: app.privateDirectories,
            sharedWith: app.sharedWith, links: app.links)
    }
}

extension ControlError {
    fileprivate init(_ error: CatalogError) {
        let code: Code =
            switch error.code {
            case .badReference: .badRequest
            case .notFound, .notAProgram, .programMissing: .noSuchApp
            case .ambiguous: .ambiguousApp
            }
        self.init(code, error.sentence)
    }
}
