import ControlAPI

/// What a route requires before anything of a request is decoded. Where it depends on the request, as with a passcode
/// in its body, `anyone` may make it and the rest is checked where the request is answered.
enum RequiredAuthority {
    /// To be a user of this computer.
    case anyone
    /// To have entered the owner's passcode on this computer before. Device names may contain names of people.
    case passcodeEnteredBefore
    /// An open vault for this user.
    case vault
    /// A management session.
    case session
}

extension ControlRoute {
    var authority: RequiredAuthority {
        switch self {
        case .status, .setUp, .openSession, .endSession, .listApps, .listInstalled, .lock, .unlock, .listCategories,
            .changePasscode, .settings, .log, .statistics, .prompts, .waitingPrompts, .registerDesktop, .answerPrompt,
            .cancelPrompt, .session, .reportIdle, .vault, .openVault, .closeVault, .exportBackup, .importBackup,
            .makeRecovery, .testRecovery, .useRecovery, .verifyLog, .reset, .stop:
            .anyone
        case .hubStatus, .joining, .listDevices: .passcodeEnteredBefore
        case .seal, .open, .listNotes, .addNote, .readNote, .changeNote, .removeNote, .listFiles, .addFile, .readFile,
            .removeFile, .readBlob, .putBlob, .removeBlob, .listMoments, .addMoment, .readMoment, .changeMoment,
            .removeMoment, .knownPhotos, .readPhoto, .listVaults, .joinVault, .readVault, .leaveVault, .listIntruders,
            .readIntruder, .removeIntruder:
            .vault
        case .addApp, .removeApp, .changeApp, .setCategory, .removeCategory, .setMonitoring, .changeSettings,
            .connectHub, .disconnectHub, .joinHub, .endJoining, .sendVaultKeys, .makePairing, .pairing,
            .confirmPairing, .endPairing, .renameDevice, .revokeDevice, .restoreChanges:
            .session
        }
    }
}

extension ControlRequestHandler {
    /// - Throws: `ControlError` with `sessionNeeded` or `vaultLocked`.
    func requireAuthority(of request: ControlRequest) async throws {
        switch request.route.authority {
        case .anyone: break
        case .passcodeEnteredBefore:
            if await passcodes.hasEnteredPasscode(request.peer.user) { break }
            guard try await reachesEverybody(request) else {
                throw ControlError(
                    .sessionNeeded,
                    "Only users who have entered AppLocker's passcode on this computer can see the hub and the devices. "
                        + "Enter the passcode first.")
            }
        case .vault: _ = try await sealed.vault.keys(for: request.peer)
        case .session: try await sessions.require(request.token, of: request.peer)
        }
    }

    /// Whether the request may reach what concerns other users: with the owner's session, as root, and as the user
    /// that the daemon runs as, whose files those are.
    func reachesEverybody(_ request: ControlRequest) async throws -> Bool {
        if request.token != nil {
            try await sessions.require(request.token, of: request.peer)
            return true
        }
        return request.peer.user == 0 || request.peer.user == ownUser
    }
}
