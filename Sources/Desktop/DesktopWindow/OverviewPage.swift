import CAdwaita
import CGtk4
import DesktopModels
import GtkSupport
import Localization

/// Whether this computer is protected, and what is open.
@MainActor
final class OverviewPage: Page {
    private static let template = Template("overview-page", of: adw_bin_get_type())

    private let screen = OverviewPage.template.make()
    private let model: OverviewModel
    private let grants = GrantChoice.all(defaultSeconds: 300)
    private let problems: RowList<ProblemItem>
    private let openApps: RowList<OpenApp>
    private let waiting: RowList<WaitingLaunch>

    var widget: Widget { screen.widget }

    private struct ProblemItem: Equatable, Identifiable {
        var problem: ProtectionProblem
        var id: String { problem.sentence }
    }

    /// - Parameter onRemedy: the user chose a remedy.
    init(_ model: OverviewModel, onRemedy: @escaping (Remedy) -> Void) {
        self.model = model
        problems = RowList(screen["problems"]) { row, item in
            row.show(title: item.problem.sentence, subtitle: item.problem.advice)
            row.showSymbol("dialog-warning-symbolic")
            row.showButton(
                item.problem.remedy?.title,
                accessible: item.problem.remedy.map { Self.accessible($0, item.problem.sentence) } ?? "")
            row.onButton = { if let remedy = item.problem.remedy { onRemedy(remedy) } }
        }
        openApps = RowList(screen["open_apps"]) { row, app in
            row.show(title: app.name, subtitle: app.until)
            row.showIcon(app.icon)
            row.showButton(app.canLock ? localized("Lock") : nil, accessible: localized("Lock \(app.name)"))
            row.onButton = { Task { await model.lock(app.id) } }
        }
        waiting = RowList(screen["waiting"]) { row, launch in
            row.show(title: launch.name, subtitle: launch.detail)
            row.showIcon(launch.icon)
            row.showButton(localized("Deny"), accessible: localized("Deny \(launch.name)"))
            row.onButton = { Task { await model.deny(launch.id) } }
        }
        Signals.connect(screen["lock_all"].raw, "clicked") { Task { await model.lockAll() } }
        Signals.connect(screen["remedy"].raw, "clicked") {
            if let remedy = model.summary.remedy { onRemedy(remedy) }
        }
        ChoiceMenu.install(on: screen["unlock_all"], grants.map(\.title)) { [unowned self] choice in
            let grant = grants[choice].grant
            Task { await model.unlockAll(grant) }
        }
        observe(self) { $0.update() }
    }

    private func update() {
        let summary = model.summary
        screen["summary_title"].setText(summary.title)
        screen["summary_detail"].setText(summary.detail)
        let icon =
            switch summary.level {
            case .good: "security-high-symbolic"
            case .incomplete: "security-medium-symbolic"
            case .off: "security-low-symbolic"
            }
        gtk_image_set_from_icon_name(screen["summary_icon"].opaque, icon)
        screen["summary_icon"].addStyle("good", if: summary.level == .good)
        screen["summary_icon"].addStyle("incomplete", if: summary.level == .incomplete)
        screen["summary_icon"].addStyle("off", if: summary.level == .off)
        screen["remedy"].setVisible(summary.remedy != nil)
        if let remedy = summary.remedy {
            screen["remedy"].setButtonLabel(remedy.title)
        }
        screen["actions"].setVisible(model.isSetUp == true && model.hasLockedApps)
        screen["waiting_group"].setVisible(!model.waiting.isEmpty)
        screen["waiting_group"].setGroupDescription(model.waiting)
        screen["waiting"].setVisible(!model.waitingLaunches.isEmpty)
        waiting.update(model.waitingLaunches)
        screen["problems_group"].setVisible(!model.problems.isEmpty)
        problems.update(model.problems.map { ProblemItem(problem: $0) })
        screen["open_group"].setVisible(!model.openApps.isEmpty)
        openApps.update(model.openApps)
    }

    private static func accessible(_ remedy: Remedy, _ sentence: String) -> String {
        switch remedy {
        case .setUp: localized("Set up AppLocker")
        case .chooseApps: localized("Choose apps")
        case .turnMonitoringOn: localized("Turn monitoring on")
        case .startPrompter: localized("Start the prompt window")
        case .startAgent: localized("Start the agent")
        case .startService: localized("Start AppLocker")
        case .fix: localized("Fix: \(sentence)")
        }
    }
}
