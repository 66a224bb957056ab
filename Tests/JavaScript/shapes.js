// The companion's type of each message, compared by TypeScript with the samples of Vectors/messages.json, which Swift
// decodes and encodes (MessageShapeTests). So a property that one side lacks, or names differently, is an error.

/** @param {string} file @param {string} name */
const of = (file, name) => `import("WEB/${file}").${name}`;
/** @param {string} name */
const body = (name) => of("formats/record-bodies.js", name);
/** @param {string} name */
const command = (name) => of("household/commands.js", name);
/** @param {string} name */
const moment = (name) => of("formats/moment-format.js", name);
/** @param {string} name */
const backup = (name) => of("features/backup/notes-backup.js", name);

/** Types of the same name in Web/types/hub-api.d.ts. */
const hub = ["BlobState", "HouseholdReport", "HubDevice", "HubDeviceList", "HubDeviceRole", "HubDeviceState",
    "HubError", "HubErrorBody", "HubGeneration", "HubRecordPage", "HubRegistration", "HubReport", "HubStreamEvent",
    "HubWriteAnswer", "HubWriteOutcome", "HubWriteRequest", "InvitationDetails", "InvitationDetailsRequest",
    "InvitationReport", "JoinReport", "JoinRequest", "NewBlobRequest", "NewHouseholdRequest", "NewInvitationRequest",
    "OwnDeviceReport", "PINAttemptRequest", "PINReplaceRequest", "PINShareAnswer", "PINShareRequest", "PINShareState",
    "PushFallback", "PushMessageAnswer", "PushMessageRequest", "PushReminder", "PushRemindersRequest",
    "PushSubscriptionRequest", "ReminderMessage", "RosterAppendRequest", "RosterChange", "RosterPage",
    "VaultInvitationProof"];

/** @type {Record<string, string>} */
export const typeOf = {
    ...Object.fromEntries(hub.map((name) => [name, `HubAPI.${name}`])),
    "HubError.Code": of("hub/errors.js", "HubErrorCode"),
    "PushMessageRequest.Urgency": "HubAPI.PushUrgency",
    HubRecord: "HubRecord",
    RecordNotice: of("formats/record-notice.js", "RecordNotice"),
    DeviceName: body("DeviceName"),
    ComputerStatus: body("ComputerStatus"),
    StatusReport: body("StatusReport"),
    "StatusReport.Protection": `${body("StatusReport")}["protection"]`,
    IntegrityFinding: body("IntegrityFinding"),
    "IntegrityFinding.State": `${body("IntegrityFinding")}["state"]`,
    ComputerApps: body("ComputerApps"),
    ComputerIcons: body("ComputerIcons"),
    RemoteApp: body("RemoteApp"),
    RemoteIcon: body("RemoteIcon"),
    "AppReport.State": `${body("RemoteApp")}["state"]`,
    OtherApp: body("OtherApp"),
    RemoteCategory: body("RemoteCategory"),
    HouseholdEvent: body("HouseholdEvent"),
    "HouseholdEvent.Kind": body("EventKind"),
    LaunchRequest: body("LaunchRequest"),
    PromptOutcome: `NonNullable<${body("LaunchRequest")}["outcome"]>`,
    CommandReply: body("CommandReply"),
    "CommandReply.State": `${body("CommandReply")}["state"]`,
    RemoteCommand: command("RemoteCommand"),
    RemoteAction: command("Action"),
    GrantRequest: command("Grant"),
    "GrantRequest.Kind": `${command("Grant")}["kind"]`,
    SealedNote: body("NoteContent"),
    IntruderContent: body("IntruderContent"),
    MomentBody: moment("MomentContent"),
    "MomentBody.Photo": moment("MomentPhoto"),
    "MomentBody.Place": moment("Place"),
    PhotoBody: moment("PhotoBody"),
    "PhotoBody.Size": moment("PhotoBodySize"),
    BackupManifest: backup("BackupManifest"),
    BackupRecord: backup("BackupRecord"),
};

/** Messages and enumerations that no companion sends or reads. */
export const notOfCompanions = ["ChangeHouseholdRequest", "IdleReport.Source"];

const status = ["phoneIsAsked", "unguardedApps", "inactivity", "processes"];

/**
 * Properties, by path, that no companion writes or reads. `replacedVersion`: they only write it.
 * @type {Record<string, string[]>}
 */
export const unread = {
    ComputerStatus: status.map((name) => `status.${name}`),
    HubRecord: ["replacedVersion"],
    IntruderContent: ["user"],
    StatusReport: ["waitingEndsInSeconds", ...status],
};

/** @param {any} sample @param {string} path @returns {boolean} whether it was there */
function remove(sample, path) {
    const [name, ...rest] = path.split(".");
    if (!Object.hasOwn(sample, name)) return false;
    if (rest.length > 0) return remove(sample[name], rest.join("."));
    return delete sample[name];
}

/**
 * The samples without what is unread. Throws for a path in `unread` that no sample has.
 * @param {Record<string, any[]>} messages
 * @returns {Record<string, any[]>}
 */
export function readSamples(messages) {
    const copy = structuredClone(messages);
    for (const [name, paths] of Object.entries(unread)) {
        for (const path of paths) {
            const found = copy[name].filter((sample) => remove(sample, path));
            if (found.length === 0) throw new Error(`${name}.${path} is in no sample: remove it from "unread".`);
        }
    }
    return copy;
}

/**
 * Returns a file of TypeScript; compiled with shapes.ts, its errors are the differences between types and samples.
 * @param {Record<string, any[]>} messages
 * @param {string} web the folder Web
 */
export function sourceOf(messages, web) {
    const samples = Object.entries(readSamples(messages)).filter(([name]) => !notOfCompanions.includes(name));
    const types = samples.map(([name]) => {
        if (!Object.hasOwn(typeOf, name)) throw new Error(`The message ${name} has no type here.`);
        return `    "${name}": ${typeOf[name].replaceAll("WEB/", `${web}/`)};`;
    });
    const checks = samples.flatMap(([name, list], index) => {
        const lines = list.map((sample) => `    ${JSON.stringify(sample)}, // ${name}`);
        return [
            `const value${index}: Messages["${name}"][] = [`, ...lines, "];", `const sample${index} = [`, ...lines,
            "] as const;",
            `type Sample${index} = None<Gaps<Messages["${name}"], typeof sample${index}[number], "${name}">>;`,
        ];
    });
    return ["interface Messages {", ...types, "}", ...checks, ""].join("\n");
}
