/// A route with its types, which both ends of the control socket use.
///
/// - `Input`: the request's body if it is `Codable`, otherwise its query, a `ControlQuery`.
/// - `Reply`: the JSON of a 200 answer; `Never` if it is bytes.
public struct ControlOperation<Input: Sendable, Reply: Codable & Sendable>: Sendable {
    public let route: ControlRoute

    init(_ route: ControlRoute) { self.route = route }
}

/// Names one of `ControlOperations`: `\.addApp`.
public typealias ControlOperationPath<Input: Sendable, Reply: Codable & Sendable> =
    any KeyPath<ControlOperations, ControlOperation<Input, Reply>> & Sendable

/// The operation of each route, of the same name. The two streams of events have none.
public struct ControlOperations: Sendable {
    public static let all = ControlOperations()

    // MARK: Status and apps

    public let status = ControlOperation<NoInput, StatusReport>(.status)
    public let listApps = ControlOperation<NoInput, AppList>(.listApps)
    public let listInstalled = ControlOperation<NoInput, InstalledList>(.listInstalled)
    public let addApp = ControlOperation<AddAppRequest, AppsChanged>(.addApp)
    public let removeApp = ControlOperation<NoInput, AppsChanged>(.removeApp)
    public let changeApp = ControlOperation<ChangeAppRequest, AppsChanged>(.changeApp)
    public let lock = ControlOperation<LockRequest, AppsChanged>(.lock)
    public let unlock = ControlOperation<UnlockRequest, AppsChanged>(.unlock)
    public let listCategories = ControlOperation<NoInput, CategoryList>(.listCategories)
    public let setCategory = ControlOperation<SetCategoryRequest, CategoryReport>(.setCategory)
    public let removeCategory = ControlOperation<NoInput, DoneReport>(.removeCategory)
    public let setMonitoring = ControlOperation<MonitoringRequest, MonitoringState>(.setMonitoring)
    public let settings = ControlOperation<NoInput, SettingsReport>(.settings)
    public let changeSettings = ControlOperation<ChangeSettingsRequest, SettingsReport>(.changeSettings)

    // MARK: The owner

    public let setUp = ControlOperation<SetUpRequest, DoneReport>(.setUp)
    public let openSession = ControlOperation<PasscodeRequest, SessionReport>(.openSession)
    public let endSession = ControlOperation<NoInput, DoneReport>(.endSession)
    public let changePasscode = ControlOperation<ChangePasscodeRequest, DoneReport>(.changePasscode)
    public let makeRecovery = ControlOperation<PasscodeRequest, RecoveryReply>(.makeRecovery)
    public let testRecovery = ControlOperation<RecoveryRequest, DoneReport>(.testRecovery)
    public let useRecovery = ControlOperation<RecoveryRequest, DoneReport>(.useRecovery)
    public let reset = ControlOperation<ResetRequest, DoneReport>(.reset)
    public let stop = ControlOperation<PasscodeRequest, DoneReport>(.stop)

    // MARK: The activity log

    public let log = ControlOperation<LogQuery, EventList>(.log)
    public let statistics = ControlOperation<StatisticsQuery, StatisticsReport>(.statistics)
    public let verifyLog = ControlOperation<VerifyLogQuery, LogVerification>(.verifyLog)

    // MARK: Prompters and desktop agents

    public let registerDesktop = ControlOperation<RegisterDesktopRequest, DoneReport>(.registerDesktop)
    public let answerPrompt = ControlOperation<PromptAnswerRequest, PromptAnswer>(.answerPrompt)
    public let waitingPrompts = ControlOperation<NoInput, PromptList>(.waitingPrompts)
    public let cancelPrompt = ControlOperation<NoInput, DoneReport>(.cancelPrompt)
    public let reportIdle = ControlOperation<IdleReport, DoneReport>(.reportIdle)

    // MARK: The vault

    public let vault = ControlOperation<NoInput, VaultStatus>(.vault)
    public let openVault = ControlOperation<PasscodeRequest, VaultStatus>(.openVault)
    public let closeVault = ControlOperation<NoInput, VaultStatus>(.closeVault)
    public let seal = ControlOperation<SealRequest, SealReply>(.seal)
    public let open = ControlOperation<OpenRequest, OpenReply>(.open)
    public let listNotes = ControlOperation<ListNotesQuery, NoteList>(.listNotes)
    public let addNote = ControlOperation<NoteRequest, NoteSaved>(.addNote)
    public let readNote = ControlOperation<NoInput, NoteContent>(.readNote)
    public let changeNote = ControlOperation<NoteRequest, NoteSaved>(.changeNote)
    public let removeNote = ControlOperation<RemoveNoteQuery, DoneReport>(.removeNote)
    public let listFiles = ControlOperation<NoInput, FileList>(.listFiles)
    public let addFile = ControlOperation<AddFileRequest, FileReport>(.addFile)
    public let readFile = ControlOperation<NoInput, FileContent>(.readFile)
    public let removeFile = ControlOperation<NoInput, DoneReport>(.removeFile)
    public let readBlob = ControlOperation<ReadBlobQuery, Never>(.readBlob)
    /// Its body is the bytes.
    public let putBlob = ControlOperation<PutBlobQuery, DoneReport>(.putBlob)
    public let removeBlob = ControlOperation<NoInput, DoneReport>(.removeBlob)
    public let listMoments = ControlOperation<MomentFilter, MomentList>(.listMoments)
    public let addMoment = ControlOperation<NewMoment, MomentReport>(.addMoment)
    public let readMoment = ControlOperation<NoInput, MomentContent>(.readMoment)
    public let changeMoment = ControlOperation<ChangeMomentRequest, MomentReport>(.changeMoment)
    public let removeMoment = ControlOperation<NoInput, MomentReport>(.removeMoment)
    public let knownPhotos = ControlOperation<KnownPhotosRequest, KnownPhotos>(.knownPhotos)
    public let readPhoto = ControlOperation<NoInput, PhotoReport>(.readPhoto)
    public let listVaults = ControlOperation<NoInput, SharedVaultList>(.listVaults)
    public let joinVault = ControlOperation<JoinHubRequest, SharedVaultReport>(.joinVault)
    public let readVault = ControlOperation<NoInput, SharedVaultReport>(.readVault)
    public let leaveVault = ControlOperation<LeaveVaultQuery, DoneReport>(.leaveVault)
    public let listIntruders = ControlOperation<NoInput, IntruderList>(.listIntruders)
    public let readIntruder = ControlOperation<NoInput, IntruderPhoto>(.readIntruder)
    public let removeIntruder = ControlOperation<NoInput, DoneReport>(.removeIntruder)
    public let exportBackup = ControlOperation<ExportRequest, ExportReply>(.exportBackup)
    public let importBackup = ControlOperation<ImportRequest, ImportReport>(.importBackup)

    // MARK: Hub and devices

    public let hubStatus = ControlOperation<NoInput, HubStatus>(.hubStatus)
    public let connectHub = ControlOperation<ConnectHubRequest, HubStatus>(.connectHub)
    public let disconnectHub = ControlOperation<NoInput, DoneReport>(.disconnectHub)
    public let joinHub = ControlOperation<JoinHubRequest, JoiningReport>(.joinHub)
    public let joining = ControlOperation<WaitQuery, JoiningReport>(.joining)
    public let endJoining = ControlOperation<NoInput, DoneReport>(.endJoining)
    public let sendVaultKeys = ControlOperation<PasscodeRequest, DoneReport>(.sendVaultKeys)
    public let makePairing = ControlOperation<NewPairingRequest, PairingReport>(.makePairing)
    public let pairing = ControlOperation<WaitQuery, PairingReport>(.pairing)
    public let confirmPairing = ControlOperation<PasscodeRequest, DeviceReport>(.confirmPairing)
    public let endPairing = ControlOperation<NoInput, DoneReport>(.endPairing)
    public let listDevices = ControlOperation<NoInput, DeviceList>(.listDevices)
    public let renameDevice = ControlOperation<RenameDeviceRequest, DeviceReport>(.renameDevice)
    public let revokeDevice = ControlOperation<PasscodeRequest, DoneReport>(.revokeDevice)
    public let restoreChanges = ControlOperation<RestoreRequest, RestoreReport>(.restoreChanges)
}
