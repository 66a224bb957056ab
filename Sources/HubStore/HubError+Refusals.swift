package import WireProtocol

// What both stores refuse, in the same words.
extension HubError {
    package static var noSuchHousehold: HubError { HubError(.notFound, "There is no such household at this hub.") }
    package static var noSuchDevice: HubError { HubError(.notFound, "There is no such device in this household.") }
    package static var noSuchInvitation: HubError {
        HubError(.notFound, "There is no such invitation; show a new code on the computer.")
    }
    package static var invitationIsOver: HubError {
        HubError(.gone, "This invitation is over; show a new code on the computer.")
    }
    package static var invitationExists: HubError {
        HubError(.conflict, "An invitation of this id exists already; take another id.")
    }
    package static var householdExists: HubError {
        HubError(.conflict, "This household exists already and was founded otherwise.")
    }
    package static var deviceExists: HubError {
        HubError(.conflict, "This device or its token is known already; make new keys or use the token it has.")
    }
    package static func rosterNumber(next: UInt64) -> HubError {
        HubError(.conflict, "The next roster entry has number \(next); fetch what is new and sign again.")
    }
    package static var otherRole: HubError {
        HubError(.badRequest, "The device joined with another role than the roster entry says; admit it with that one.")
    }
    package static var noSuchBlob: HubError { HubError(.notFound, "There is no such blob in this household.") }
    package static var otherBlob: HubError {
        HubError(.conflict, "A blob of this id has another size or hash; take another id.")
    }
    package static var blobIsRemoved: HubError {
        HubError(
            .unavailable, "The hub is just removing an old blob of this id; try again in a moment.",
            retryAfterSeconds: 5)
    }
    package static func blobOffset(_ received: UInt64) -> HubError {
        HubError(.conflict, "The hub has \(received) bytes of this blob; send what follows them.")
    }
    package static var blobBounds: HubError {
        HubError(.badRequest, "That is not within the size which the blob began with.")
    }
    package static var blobIsEmpty: HubError {
        HubError(.badRequest, "A blob has from 1 byte on and a SHA-256 of 32 bytes.")
    }
    package static var incompleteBlob: HubError {
        HubError(.badRequest, "A blob of this record is not complete; send its bytes first.")
    }
    package static var noFirstRevision: HubError {
        HubError(.conflict, "There is no such record at the hub; its first revision is 1.")
    }
    package static var badRecord: HubError {
        HubError(
            .badRequest,
            "A record has a collection of 1 to 32 characters of a-z and \"-\", a revision from 1 and at most 8 blobs.")
    }
    package static var otherVault: HubError {
        HubError(.badRequest, "The record is in another vault at the hub, and stays there; take another id.")
    }
    package static var farRevision: HubError {
        HubError(
            .badRequest, "The record's revision is too far above the one that it replaces; count on from that one.")
    }
    package static var noPINShare: HubError { HubError(.notFound, "This device has no PIN share at the hub.") }
    package static var badPINShare: HubError {
        HubError(
            .badRequest,
            "A PIN share has \(PINShareRequest.count) entries: a verifier, a share and a change hash of 32 bytes each.")
    }
    package static var pinShareIsDestroyed: HubError {
        HubError(.gone, "The PIN was wrong too often and its share is destroyed; set up this device again.")
    }
    package static var pinShareExists: HubError {
        HubError(.conflict, "This device has a PIN share already; open it and change the PIN there.")
    }
    package static var noPINEntry: HubError {
        HubError(.notFound, "No entry of the PIN share has this change secret; pair the device again.")
    }
    package static func pinHasToWait(_ seconds: Int64) -> HubError {
        HubError(
            .tooMany, "The PIN was wrong too often; wait \(seconds) seconds.", retryAfterSeconds: Int(clamping: seconds)
        )
    }
    package static var storeIsClosed: HubError { HubError(.unavailable, "The hub is ending; try again in a moment.") }
}
