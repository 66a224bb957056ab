import ControlAPI
import Policy
import SealedFormats

// Requests about the status, the list of apps and the settings.
extension ControlRequestHandler {
    func addAppRequests(to table: inout RequestTable) {
        table.answer(\.status) { await statusReader.status(of: $0.peer) }
        table.answer(\.listApps) { _ in AppList(apps: await apps.reports()) }
        table.answer(\.listInstalled) { await apps.installed(user: $0.user) }
        table.answer(\.addApp) { try await apps.add($0.body, user: $0.user) }
        table.answer(\.removeApp) { request in
            // The passcode is removed first: otherwise it would open the app if it is added again.
            let id = try await apps.listed(request.name)
            try await passcodes.forget(id)
            return try await apps.remove(id.rawValue, user: request.user)
        }
        table.answer(\.changeApp, changeApp)
        table.answer(\.listCategories) { _ in CategoryList(categories: await apps.categories()) }
        table.answer(\.setCategory) { try await apps.setCategory($0.name, $0.body, user: $0.user) }
        table.perform(\.removeCategory) { try await apps.removeCategory($0.name, user: $0.user) }
        table.answer(\.setMonitoring) { request in
            try await apps.setMonitoring(request.body, user: request.user)
            return await apps.monitoring()
        }
        table.answer(\.settings) { _ in await settings() }
        table.answer(\.changeSettings) { try await changeSettings($0.body, user: $0.user) }
    }

    private func changeApp(_ request: TypedRequest<ChangeAppRequest>) async throws -> AppsChanged {
        let body = try request.body
        let id = try await apps.listed(request.name)
        // Checked before the passcode is set: nothing is changed if any part is refused.
        _ = try AppService.rules(body)
        var notes: [String] = []
        if let passcode = body.passcode {
            notes = try await passcodes.setPasscode(
                passcode.isEmpty ? nil : SecretBytes(utf8: passcode), of: id, user: request.user)
        }
        var changed = try await apps.changeApp(request.name, body, user: request.user)
        changed.notes += notes
        return changed
    }

    private func changeSettings(_ request: ChangeSettingsRequest, user: UInt32) async throws -> SettingsReport {
        if request.vaultIdleSeconds != nil || request.photographsFromFailure != nil || request.camera != nil
            || request.alertDays != nil
        {
            try await sealed.vault.changeSettings { settings in
                if let seconds = request.vaultIdleSeconds { settings.vaultIdleSeconds = seconds }
                if let failures = request.photographsFromFailure { settings.photographsFromFailure = failures }
                if let camera = request.camera { settings.camera = camera }
                if let days = request.alertDays { settings.alertDays = days }
            }
        }
        if request.inactivitySeconds != nil || request.clipboardSeconds != nil || request.locksOnCapture != nil {
            try await presence.changeSettings { settings in
                if let seconds = request.inactivitySeconds { settings.inactivitySeconds = seconds }
                if let seconds = request.clipboardSeconds { settings.clipboardSeconds = seconds }
                if let locks = request.locksOnCapture { settings.locksOnCapture = locks }
            }
        }
        _ = try await apps.changeSettings(request, user: user)
        return await settings()
    }

    private func settings() async -> SettingsReport {
        var report = await apps.settings()
        let privacy = await sealed.vault.settings
        report.vaultIdleSeconds = privacy.vaultIdleSeconds
        report.photographsFromFailure = privacy.photographsFromFailure
        report.camera = privacy.camera
        report.alertDays = privacy.alertDays
        let presence = await presence.settings
        report.inactivitySeconds = presence.inactivitySeconds
        report.clipboardSeconds = presence.clipboardSeconds
        report.locksOnCapture = presence.locksOnCapture
        return report
    }
}
