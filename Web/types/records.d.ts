// Types of pages and workers: a record as the hub has it, and the device session.
type HubRecord = import("../crypto/signature.js").HubRecord;
type DeviceSession = import("../sync/device-session.js").DeviceSession;
