public import ControlAPI
import Localization
public import Observation

/// A setting with some values to choose from.
public struct SettingChoices: Equatable, Sendable {
    public var titles: [String]
    public var values: [Int]
    public var selected: Int

    /// - Parameter current: becomes a choice of its own if it isn't a usual value.
    init(_ usual: [Int], current: Int, title: (Int) -> String) {
        values = Set(usual + [current]).sorted()
        titles = values.map(title)
        selected = values.firstIndex(of: current) ?? 0
    }
}

/// The settings that are numbers.
public enum NumberSetting: CaseIterable, Sendable {
    case promptTimeout, phoneTimeout, defaultGrant, inactivity, vaultIdle, photographsFrom, alertDays, clipboard

    var usual: [Int] {
        switch self {
        case .promptTimeout: [15, 30, 60, 120, 300]
        case .phoneTimeout: [30, 60, 120, 300, 600]
        case .defaultGrant: [60, 300, 900, 1_800, 3_600]
        case .inactivity: [60, 120, 300, 600, 900, 1_800, 3_600]
        case .vaultIdle: [60, 300, 600, 1_800, 3_600]
        case .photographsFrom: [0, 1, 2, 3, 5]
        case .alertDays: [7, 14, 30, 90, 365]
        case .clipboard: [10, 30, 60, 120, 300]
        }
    }

    func title(_ value: Int) -> String {
        switch self {
        case .photographsFrom: localized(value == 0 ? "Never" : value == 1 ? "The first" : "\(value) in a row")
        case .alertDays: localized(value, one: "\(value) day", other: "\(value) days")
        default: SpokenDuration.text(seconds: value)
        }
    }

    var report: WritableKeyPath<SettingsReport, Int> {
        switch self {
        case .promptTimeout: \.promptTimeoutSeconds
        case .phoneTimeout: \.phoneTimeoutSeconds
        case .defaultGrant: \.defaultGrantSeconds
        case .inactivity: \.inactivitySeconds
        case .vaultIdle: \.vaultIdleSeconds
        case .photographsFrom: \.photographsFromFailure
        case .alertDays: \.alertDays
        case .clipboard: \.clipboardSeconds
        }
    }

    var request: WritableKeyPath<ChangeSettingsRequest, Int?> {
        switch self {
        case .promptTimeout: \.promptTimeoutSeconds
        case .phoneTimeout: \.phoneTimeoutSeconds
        case .defaultGrant: \.defaultGrantSeconds
        case .inactivity: \.inactivitySeconds
        case .vaultIdle: \.vaultIdleSeconds
        case .photographsFrom: \.photographsFromFailure
        case .alertDays: \.alertDays
        case .clipboard: \.clipboardSeconds
        }
    }
}

/// The settings that are on or off.
public enum SwitchSetting: CaseIterable, Sendable {
    case holdsRoot, asksPhoneAlone, locksOnCapture

    var report: WritableKeyPath<SettingsReport, Bool> {
        switch self {
        case .holdsRoot: \.holdsRoot
        case .asksPhoneAlone: \.asksPhoneAlone
        case .locksOnCapture: \.locksOnCapture
        }
    }

    var request: WritableKeyPath<ChangeSettingsRequest, Bool?> {
        switch self {
        case .holdsRoot: \.holdsRoot
        case .asksPhoneAlone: \.asksPhoneAlone
        case .locksOnCapture: \.locksOnCapture
        }
    }
}

/// All of `applocker settings`. A change asks for the passcode once a management session.
@MainActor @Observable
public final class SettingsModel {
    /// Nil until they were read.
    public private(set) var report: SettingsReport?
    /// Increases when a change was refused, so that what is shown returns to `report`.
    public private(set) var refusals = 0
    public private(set) var monitoring = MonitoringState(isOn: true)

    private let context: DesktopContext

    public init(_ context: DesktopContext) { self.context = context }

    public func load() async {
        await context.attempt {
            let report = try await context.control.call(\.settings)
            let monitoring = try await context.control.call(\.status).monitoring
            if self.report != report { self.report = report }
            if self.monitoring != monitoring { self.monitoring = monitoring }
        }
    }

    public func choices(_ setting: NumberSetting) -> SettingChoices? {
        report.map { SettingChoices(setting.usual, current: $0[keyPath: setting.report], title: setting.title) }
    }

    public func isOn(_ setting: SwitchSetting) -> Bool { report?[keyPath: setting.report] ?? false }

    public func set(_ setting: NumberSetting, to value: Int) async {
        guard let report, report[keyPath: setting.report] != value else { return }
        var request = ChangeSettingsRequest()
        request[keyPath: setting.request] = value
        await change(request)
    }

    public func set(_ setting: SwitchSetting, to isOn: Bool) async {
        guard let report, report[keyPath: setting.report] != isOn else { return }
        var request = ChangeSettingsRequest()
        request[keyPath: setting.request] = isOn
        await change(request)
    }

    public func setCamera(_ camera: String) async {
        let camera = camera.isEmpty ? "auto" : camera
        guard let report, report.camera != camera else { return }
        await change(ChangeSettingsRequest(camera: camera))
    }

    public func setMonitoring(_ isOn: Bool) async {
        guard isOn != monitoring.isOn else { return }
        let changed = await context.attempt {
            let control = context.control
            let change = { @MainActor @Sendable (token: String) in
                try await control.call(\.setMonitoring, token: token, body: MonitoringRequest(isOn: isOn))
            }
            return isOn
                ? try await context.session.perform(localized("Turn monitoring on"), change)
                : try await context.session.performAsking(localized("Turn monitoring off"), change)
        }
        if let changed { monitoring = changed } else { refusals += 1 }
    }

    /// - Returns: why it was not changed; nil if it was.
    public func changePasscode(from old: String, to new: String) async -> String? {
        await setPasscode(
            \.changePasscode, ChangePasscodeRequest(old: old, new: new), localized("The passcode is changed."))
    }

    /// Sets a new passcode with the code of the recovery sheet, which stays valid. A wrong code counts like a wrong
    /// passcode.
    ///
    /// - Returns: why it was not set; nil if it was.
    public func recover(code: String, newPasscode: String) async -> String? {
        await setPasscode(
            \.useRecovery, RecoveryRequest(code: code, newPasscode: newPasscode),
            localized("The passcode is changed. The recovery sheet stays valid."))
    }

    private func setPasscode<Body: Encodable & Sendable>(
        _ operation: ControlOperationPath<Body, DoneReport>, _ body: Body, _ announcement: String
    ) async -> String? {
        do {
            let done = try await context.control.call(operation, body: body)
            // The daemon ends every session with it.
            await context.session.end()
            context.announce(localizedNote(done.notes) ?? announcement)
            return nil
        } catch {
            return sentence(error)
        }
    }

    private func change(_ request: ChangeSettingsRequest) async {
        let changed = await context.attempt {
            try await context.session.perform(localized("Change settings")) { token in
                try await context.control.call(\.changeSettings, token: token, body: request)
            }
        }
        if let changed { report = changed } else { refusals += 1 }
    }
}
