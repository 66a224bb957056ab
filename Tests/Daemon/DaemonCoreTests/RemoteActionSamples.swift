import ControlAPI
import Household
import HubAPI
import SealedFormats

extension RemoteAction {
    /// Each action that a phone can send. A new one is added here, and to the phone's row of the threat model.
    static func samples(of phone: HubID, _ grant: GrantRequest) -> [RemoteAction] {
        let all: [RemoteAction] = [
            .lockAll, .unlockAll(grant: grant), .lockApp(app: "firefox"), .unlockApp(app: "firefox", grant: grant),
            .approve(prompt: "none", grant: grant), .deny(prompt: "none"), .lockVault, .takePhoto,
            .removePhoto(photo: HubID(.random())), .addApp(app: "mail"), .removeApp(app: "mail"),
            .setSchedule(app: "firefox", schedule: ""), .setCategories(app: "firefox", categories: ["work"]),
            .renameDevice(device: phone, name: "the phone"), .revokeDevice(device: HubID(.random())),
        ]
        // Without the new action this does not compile.
        for action in all {
            switch action {
            case .lockAll, .unlockAll, .lockApp, .unlockApp, .approve, .deny, .lockVault, .takePhoto,
                .removePhoto, .addApp, .removeApp, .setSchedule, .setCategories, .renameDevice, .revokeDevice,
                .unsupported:
                continue
            }
        }
        return all
    }
}
