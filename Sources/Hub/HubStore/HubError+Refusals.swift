package import HubAPI

// The refusals of both stores and of the server, with the same messages.
extension HubError {
    package static var unknownToken: HubError {
        HubError(.unauthorized, "The token is unknown or no longer valid. Pair the device again.")
    }
    package static func bodyTooLong(_ limit: Int) -> HubError {
        HubError(.tooLarge, "The request's body is longer than \(limit) bytes; shorten it.")
    }
    package static var requestFailed: HubError { HubError(.failed, "The hub could not do this. See its log.") }
    package static var noSuchHousehold: HubError { HubError(.notFound, "There is no such household at this hub.") }
    package static var fewerDays: HubError {
        HubError(.forbidden, "A household keeps events for the same number of days or more, not for fewer.")
    }
    package static var noSuchDevice: HubError { HubError(.notFound, "There is no such device in this household.") }
    package static var noSuchInvitation: HubError {
        HubError(.notFound, "There is no such invitation; create a new code on the device that invites.")
    }
    package static var invitationIsOver: HubError {
        HubError(.gone, "This invitation has expired; create a new code on the device that invites.")
    }
    package static var startIsUsed: HubError {
        HubError(.gone, "This start link was used already; ask the hub's operator for another one.")
    }
    package static var startIsOver: HubError {
        HubError(.gone, "This start link has expired; ask the hub's operator for another one.")
    }
    package static var invitationHasFounded: HubError {
        HubError(.gone, "A household was founded with this invitation already; ask for another one.")
    }
    package static func tooManyHouseholds(_ maximum: Int) -> HubError {
        HubError(.forbidden, "This hub has \(maximum) households, which is all that its operator allows.")
    }
    package static var tooManyInvitations: HubError {
        HubError(
            .tooMany,
            "The household has \(StoredInvitation.maximumUnused) unused invitations; wait until some have expired.",
            retryAfterSeconds: Int(StoredInvitation.countedAfterTime))
    }
    package static var invitationExists: HubError {
        HubError(.conflict, "An invitation with this id exists already; use another id.")
    }
    package static var householdExists: HubError {
        HubError(.conflict, "This household exists already with another first entry.")
    }
    package static var deviceExists: HubError {
        HubError(.conflict, "This device or its token is registered already; create new keys or use its token.")
    }
    package static func rosterNumber(next: UInt64) -> HubError {
        HubError(.conflict, "The next roster entry has number \(next); fetch the new entries and sign again.")
    }
    package static var rosterIsFull: HubError {
        HubError(
            .quotaExceeded,
            "The household's roster is full: devices can be revoked, but to admit another one, found a new household.")
    }
    package static var otherRole: HubError {
        HubError(
            .badRequest, "The device joined with another role than that of the roster entry; admit it with its role.")
    }
    package static var noSuchBlob: HubError { HubError(.notFound, "There is no such blob in this household.") }
    package static var otherBlob: HubError {
        HubError(.conflict, "A blob with this id has another size or hash; use another id.")
    }
    package static var blobIsRemoved: HubError {
        HubError(
            .unavailable, "The hub is removing an old blob with this id; try again in a moment.",
            retryAfterSeconds: 5)
    }
    package static func blobOffset(_ received: UInt64) -> HubError {
        HubError(.conflict, "The hub has \(received) bytes of this blob; send the following ones.")
    }
    package static var blobBounds: HubError {
        HubError(.badRequest, "The range exceeds the size of the blob.")
    }
    package static func overQuota(_ bytes: UInt64, limit: UInt64) -> HubError {
        HubError(
            .quotaExceeded,
            "The household has \(bytes) of the \(limit) bytes that it may have here. Delete something first.")
    }
    package static var blobIsEmpty: HubError {
        HubError(.badRequest, "A blob has at least 1 byte and a SHA-256 of 32 bytes.")
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
        HubError(.badRequest, "The record is in another vault at the hub and can't move; use another id.")
    }
    package static var farRevision: HubError {
        HubError(
            .badRequest, "The record's revision is too far above the one that it replaces; use the next one.")
    }
    package static var noPushSubscription: HubError {
        HubError(.conflict, "This device has no push subscription at the hub; turn notifications on first.")
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
    package static var storeIsClosed: HubError {
        HubError(.unavailable, "The hub is shutting down; try again in a moment.")
    }
}
