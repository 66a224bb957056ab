import BlockingThread
import ControlAPI
import DesktopModels
import DesktopSession
import Glibc
import LocalControl
import ProcessHardening
import SealedFormats

/// The models of one window.
@MainActor
struct WindowModels {
    let context: DesktopContext
    let overview: OverviewModel
    let apps: AppsModel
    let activity: ActivityModel
    let vault: VaultModel
    let notes: NotesModel
    let files: FilesModel
    let momentVaults: MomentVaultsModel
    let moments: MomentsModel
    let momentTrash: MomentTrashModel
    let momentStatistics: MomentStatisticsModel
    let intruders: IntrudersModel
    let devices: DevicesModel
    let recovery: RecoveryModel
    let backup: BackupModel
    let settings: SettingsModel
    let firstRun: FirstRunModel
    let transfers: RunningTransfers

    init(
        control: any DesktopControl, files transfer: any FileTransfer, photos: any PhotoFiles,
        checkWays: @escaping PairingModel.WaysCheck
    ) {
        let names = AppEntryNames()
        context = DesktopContext(control: control, time: .system) { names.name(of: $0, $1) }
        apps = AppsModel(context) { apps in await runBlocking { RunningApps.ids(among: apps) } }
        activity = ActivityModel(context, userName: userName)
        vault = VaultModel(context, user: getuid())
        overview = OverviewModel(context, vault)
        notes = NotesModel(context, vault)
        files = FilesModel(context, vault, transfer)
        momentVaults = MomentVaultsModel(context, vault)
        moments = MomentsModel(context, vault, momentVaults, photos)
        momentTrash = MomentTrashModel(context, vault, momentVaults, keptFor: MomentBody.trashSeconds)
        momentStatistics = MomentStatisticsModel(vault, momentVaults)
        intruders = IntrudersModel(context, vault, photos)
        devices = DevicesModel(context, checkWays: checkWays)
        recovery = RecoveryModel(context, vault)
        backup = BackupModel(context)
        transfers = RunningTransfers(files, moments, backup, time: context.time)
        settings = SettingsModel(context)
        firstRun = FirstRunModel(context, settings: settings, devices: devices, recovery: recovery)
    }
}

/// What the window can do beside the control socket.
struct WindowServices: Sendable {
    let programs: SessionPrograms
    let coreLimit: CoreLimit
}
