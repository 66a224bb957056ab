// Messages between companion and hub: Sources/Shared/HubAPI describes each field. The names are those of Swift;
// Tests/JavaScript/shapes.js compares the fields. Bytes are base64.
declare namespace HubAPI {
    type HubDeviceRole = "computer" | "companion" | "administrator";
    /** Who may found a household: everybody, those who were invited, or nobody. */
    type HubRegistration = "open" | "invitation" | "closed";
    type HubDeviceState = "pending" | "active";

    interface HubReport {
        name: string;
        version: string;
        time: number;
        pushKey: string;
        needsRegistrationToken: boolean;
        registration: HubRegistration;
    }

    interface HubError {
        code: import("../hub/errors.js").HubErrorCode;
        message: string;
        retryAfterSeconds?: number;
    }

    interface HubErrorBody {
        error: HubError;
        current?: HubRecord;
    }

    // Household and devices

    interface NewHouseholdRequest {
        household: string;
        device: string;
        entry: string;
        tokenHash: string;
        registrationToken?: string;
        role?: HubDeviceRole;
        start?: string;
        vaultInvitation?: VaultInvitationProof;
    }

    /** An invitation of a household at this hub; its proof admits one founder. */
    interface VaultInvitationProof {
        id: string;
        proof: string;
    }

    /** A run of the hub's store, and the newest sequence number when it began. */
    interface HubGeneration {
        id: string;
        after: number;
    }

    interface HouseholdReport {
        household: string;
        sequence: number;
        records: number;
        bytes: number;
        quotaBytes: number;
        recordingBytes?: number;
        eventDays: number;
        generations: HubGeneration[];
    }

    interface RosterPage {
        entries: string[];
    }

    /** `restore`: an entry that the hub lost. */
    type RosterChange =
        | { admit: { device: string; role: HubDeviceRole; invitation: string } }
        | { revoke: { device: string } }
        | { restore: { revoked?: string } };

    interface RosterAppendRequest {
        number: number;
        entry: string;
        change: RosterChange;
    }

    interface HubDevice {
        id: string;
        role: HubDeviceRole;
        state: HubDeviceState;
        lastSeen?: number;
        isConnected: boolean;
        hasPush: boolean;
    }

    interface HubDeviceList {
        devices: HubDevice[];
    }

    interface OwnDeviceReport {
        device: string;
        household: string;
        role: HubDeviceRole;
        state: HubDeviceState;
    }

    // Invitations

    interface NewInvitationRequest {
        id: string;
        proofHash: string;
        expiresInSeconds: number;
        details?: string;
    }

    interface InvitationDetailsRequest {
        proof: string;
    }

    interface InvitationDetails {
        details: string;
    }

    interface JoinReport {
        device: string;
        sealed: string;
    }

    interface InvitationReport {
        id: string;
        join?: JoinReport;
    }

    interface JoinRequest {
        proof: string;
        device: string;
        role: HubDeviceRole;
        tokenHash: string;
        sealed: string;
    }

    // Records and blobs

    interface HubRecordPage {
        records: HubRecord[];
        next: number;
        more: boolean;
    }

    interface HubWriteRequest {
        records: HubRecord[];
    }

    interface HubWriteOutcome {
        sequence?: number;
        conflict?: HubRecord;
        error?: HubError;
    }

    interface HubWriteAnswer {
        outcomes: HubWriteOutcome[];
    }

    /** The names of the stream's events. */
    type HubStreamEvent = "record" | "large" | "roster" | "join" | "live";

    interface NewBlobRequest {
        id: string;
        size: number;
        hash: string;
    }

    interface BlobState {
        size: number;
        received: number;
        isComplete: boolean;
    }

    // PIN share and push

    interface PINShareRequest {
        entries: { verifier: string; share: string; changeHash: string }[];
    }

    interface PINAttemptRequest {
        verifier: string;
    }

    interface PINReplaceRequest {
        changeSecret: string;
        verifier: string;
        share: string;
    }

    interface PINShareAnswer {
        share: string;
    }

    interface PINShareState {
        failures: number;
        retryAfterSeconds: number;
    }

    interface PushSubscriptionRequest {
        endpoint: string;
        keys: { p256dh: string; auth: string };
        fallback?: PushFallback;
    }

    interface PushFallback {
        title: string;
        body: string;
        navigate: string;
    }

    type PushUrgency = "very-low" | "low" | "normal" | "high";

    interface PushMessageRequest {
        payload: string;
        urgency: PushUrgency;
        ttl: number;
        topic?: string;
        devices?: string[];
    }

    interface PushMessageAnswer {
        subscriptions: number;
    }

    interface PushRemindersRequest {
        list: string;
        reminders: PushReminder[];
    }

    interface PushReminder {
        at: number;
        content: string;
    }

    interface ReminderMessage {
        reminder: string;
    }
}
