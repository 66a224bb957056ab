import ControlAPI
import Foundation
import Household
import HubAPI
import SealedFormats
import TestSupport
import Testing

@testable import DaemonCore

/// Every JSON message of hub, computers and companions, by the samples with which Tests/JavaScript/shapes.js compares
/// the companion's types.
@Suite struct MessageShapeTests {
    private static let types: [String: any (Codable & Sendable).Type] = [
        "AppReport.State": AppReport.State.self, "BackupManifest": BackupManifest.self,
        "BackupRecord": BackupRecord.self, "BlobState": BlobState.self,
        "ChangeHouseholdRequest": ChangeHouseholdRequest.self, "CommandReply": CommandReply.self,
        "CommandReply.State": CommandReply.State.self, "ComputerApps": ComputerApps.self,
        "ComputerIcons": ComputerIcons.self, "RemoteIcon": RemoteIcon.self,
        "ComputerStatus": ComputerStatus.self, "DeviceName": DeviceName.self, "GrantRequest": GrantRequest.self,
        "GrantRequest.Kind": GrantRequest.Kind.self, "HouseholdEvent": HouseholdEvent.self,
        "HouseholdEvent.Kind": HouseholdEvent.Kind.self, "HouseholdReport": HouseholdReport.self,
        "HubDevice": HubDevice.self, "HubDeviceList": HubDeviceList.self, "HubDeviceRole": HubDeviceRole.self,
        "HubDeviceState": HubDeviceState.self, "HubError": HubError.self, "HubError.Code": HubError.Code.self,
        "HubErrorBody": HubErrorBody.self, "HubGeneration": HubGeneration.self, "HubRecord": HubRecord.self,
        "HubRecordPage": HubRecordPage.self, "HubRegistration": HubRegistration.self,
        "VaultInvitationProof": VaultInvitationProof.self, "HubReport": HubReport.self,
        "HubStreamEvent": HubStreamEvent.self,
        "HubWriteAnswer": HubWriteAnswer.self, "HubWriteOutcome": HubWriteOutcome.self,
        "HubWriteRequest": HubWriteRequest.self, "IdleReport.Source": IdleReport.Source.self,
        "IntegrityFinding": IntegrityFinding.self, "IntegrityFinding.State": IntegrityFinding.State.self,
        "IntruderContent": IntruderService.Content.self, "InvitationReport": InvitationReport.self,
        "InvitationDetails": InvitationDetails.self, "InvitationDetailsRequest": InvitationDetailsRequest.self,
        "JoinReport": JoinReport.self, "JoinRequest": JoinRequest.self, "LaunchRequest": LaunchRequest.self,
        "MomentBody": MomentBody.self, "MomentBody.Photo": MomentBody.Photo.self,
        "MomentBody.Place": MomentBody.Place.self, "NewBlobRequest": NewBlobRequest.self,
        "NewHouseholdRequest": NewHouseholdRequest.self, "NewInvitationRequest": NewInvitationRequest.self,
        "OtherApp": OtherApp.self, "OwnDeviceReport": OwnDeviceReport.self, "PINAttemptRequest": PINAttemptRequest.self,
        "PINReplaceRequest": PINReplaceRequest.self, "PINShareAnswer": PINShareAnswer.self,
        "PINShareRequest": PINShareRequest.self, "PINShareState": PINShareState.self, "PhotoBody": PhotoFacts.self,
        "PhotoBody.Size": PhotoBody.Size.self, "PromptOutcome": PromptOutcome.self,
        "PushFallback": PushFallback.self, "PushMessageAnswer": PushMessageAnswer.self,
        "PushMessageRequest": PushMessageRequest.self,
        "PushMessageRequest.Urgency": PushMessageRequest.Urgency.self,
        "PushReminder": PushReminder.self, "PushRemindersRequest": PushRemindersRequest.self,
        "ReminderMessage": ReminderMessage.self,
        "PushSubscriptionRequest": PushSubscriptionRequest.self, "RecordNotice": RecordNotice.self,
        "RemoteAction": RemoteAction.self,
        "RemoteApp": RemoteApp.self, "RemoteCategory": RemoteCategory.self, "RemoteCommand": RemoteCommand.self,
        "RosterAppendRequest": RosterAppendRequest.self, "RosterChange": HubAPI.RosterChange.self,
        "RosterPage": RosterPage.self, "SealedNote": SealedNote.self, "StatusReport": StatusReport.self,
        "StatusReport.Protection": StatusReport.Protection.self,
    ]

    private let messages: [String: [JSONValue]]

    init() throws { messages = try Vectors.load("messages.json", as: [String: [JSONValue]].self) }

    @Test func everySampleIsDecodedAndEncodedTheSame() {
        #expect(Set(messages.keys) == Set(Self.types.keys))
        var shapes = MessageShapes()
        for (name, type) in Self.types {
            for sample in messages[name] ?? [] { shapes.add(sample, as: type, named: name) }
        }
        #expect(shapes.problems == [])
        #expect(shapes.gaps == [])
    }

    /// The compiler requires each case of an enumeration with associated values here, and the test a sample of it.
    @Test func everyActionAndEveryChangeHasASample() throws {
        let actions = try samples("RemoteAction", as: RemoteAction.self)
        let all = RemoteAction.samples(of: HubID(.random()), GrantRequest(.untilLocked))
        #expect(try Set(actions.map(name)) == Set(all.map(name)))
        let changes = try samples("RosterChange", as: HubAPI.RosterChange.self)
        #expect(Set(changes.map(ChangeName.init)) == Set(ChangeName.allCases))
    }

    /// The case's name, which is the message's only key.
    private func name(of action: RemoteAction) throws -> String {
        let object = try JSONDecoder().decode([String: JSONValue].self, from: try JSONEncoder().encode(action))
        return try #require(object.keys.first)
    }

    private func samples<Message: Codable>(_ name: String, as type: Message.Type) throws -> [Message] {
        try JSONDecoder().decode([Message].self, from: try JSONEncoder().encode(messages[name]))
    }
}

private enum ChangeName: CaseIterable {
    case admit, revoke, restore

    init(_ change: HubAPI.RosterChange) {
        self =
            switch change {
            case .admit: .admit
            case .revoke: .revoke
            case .restore: .restore
            }
    }
}

/// The JSON inside the body of a photo, which as a whole is not JSON.
private struct PhotoFacts: Codable, CustomReflectable {
    private struct Blobs: Decodable {
        struct Size: Decodable { var blob: ItemID }
        var original: Size
        var medium: Size?
    }

    private let body: PhotoBody

    init(from decoder: any Decoder) throws {
        let json = try JSONEncoder().encode(try JSONValue(from: decoder))
        let blobs = try JSONDecoder().decode(Blobs.self, from: json)
        let length = withUnsafeBytes(of: UInt32(json.count).bigEndian) { Data($0) }
        body = try PhotoBody(
            bytes: length + json + Data([0]), blobs: [blobs.original.blob] + (blobs.medium.map { [$0.blob] } ?? []))
    }

    func encode(to encoder: any Encoder) throws {
        let json = try body.bytes().dropFirst(4).dropLast(body.thumbnail.count)
        try JSONDecoder().decode(JSONValue.self, from: json).encode(to: encoder)
    }

    var customMirror: Mirror {
        Mirror(
            self, children: Mirror(reflecting: body).children.filter { $0.label != "thumbnail" },
            displayStyle: .struct)
    }
}
