import GRDB

extension SQLiteHubStore {
    /// Migrations are never edited once released, only added.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: households, devices, records, blobs") { database in
            try database.execute(sql: households)
            try database.execute(sql: records)
            try database.execute(sql: shares)
        }
        migrator.registerMigration("2: tokens of revoked companions") { try $0.execute(sql: revokedTokens) }
        migrator.registerMigration("3: who began a blob, and the size of records") {
            try $0.execute(sql: blobUploadersAndRecordSizes)
        }
        migrator.registerMigration("4: invitations to found a household") { try $0.execute(sql: foundingInvitations) }
        migrator.registerMigration("5: details of invitations") {
            try $0.execute(sql: "ALTER TABLE invitation ADD COLUMN details BLOB")
        }
        migrator.registerMigration("6: fallbacks of push messages") { try $0.execute(sql: pushFallbacks) }
        migrator.registerMigration("7: the size of blobs") { try $0.execute(sql: blobSizes) }
        migrator.registerMigration("8: invitations by their expiry") { try $0.execute(sql: invitationExpiry) }
        migrator.registerMigration("9: records by the time of their writing") {
            try $0.execute(sql: recordTimes)
        }
        migrator.registerMigration("10: households that are being removed") {
            try $0.execute(sql: removedHouseholds)
        }
        migrator.registerMigration("11: reminders") { try $0.execute(sql: reminders) }
        return migrator
    }

    /// `due`: when to push the content to the device. `set_at`: when its list was set.
    private static let reminders = """
        CREATE TABLE reminder (
            device BLOB NOT NULL REFERENCES push ON DELETE CASCADE,
            list BLOB NOT NULL,
            due INTEGER NOT NULL,
            set_at INTEGER NOT NULL,
            content BLOB NOT NULL,
            PRIMARY KEY (device, list, due)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX reminder_due ON reminder (due);
        """

    /// `removed`: the id that it had. What it stored is still being erased.
    private static let removedHouseholds = """
        ALTER TABLE household ADD COLUMN removed BLOB;
        CREATE INDEX household_removed ON household (removed) WHERE removed IS NOT NULL;
        """

    private static let recordTimes = """
        CREATE INDEX record_written ON record (household, collection, written)
            WHERE collection IN ('commands', 'events', 'requests');
        """

    private static let invitationExpiry = """
        CREATE INDEX invitation_expires ON invitation (household, expires);
        DROP INDEX invitation_household;
        """

    /// As `BlobUsage` counts them, instead of the size alone.
    private static let blobSizes = """
        UPDATE household SET bytes = bytes + COALESCE(
            (SELECT SUM(512 + (size + 4095) / 4096 * 4096 - size) FROM blob WHERE blob.household = household.number), 0);
        """

    private static let pushFallbacks = """
        ALTER TABLE push ADD COLUMN title TEXT;
        ALTER TABLE push ADD COLUMN body TEXT;
        ALTER TABLE push ADD COLUMN navigate TEXT;
        """

    /// Which of them were used, and which households are shared vaults. Households that exist count as none.
    private static let foundingInvitations = """
        CREATE TABLE used_start (id BLOB NOT NULL PRIMARY KEY, expires INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX used_start_expires ON used_start (expires);
        ALTER TABLE invitation ADD COLUMN has_founded INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE household ADD COLUMN is_main INTEGER NOT NULL DEFAULT 1;
        """

    /// Tombstones are kept and counted; no query needs their time any more.
    private static let blobUploadersAndRecordSizes = """
        ALTER TABLE blob ADD COLUMN begun_by BLOB;
        DROP INDEX record_tombstone;
        UPDATE household SET bytes = bytes + 512 *
            (SELECT COUNT(*) FROM record WHERE record.household = household.number);
        """

    // Ids and hashes are bytes, times seconds since 1970.

    /// By these tokens a revoked companion can read the roster up to the entry of this number, which revokes it.
    private static let revokedTokens = """
        CREATE TABLE revoked_token (
            token_hash BLOB NOT NULL PRIMARY KEY,
            household INTEGER NOT NULL REFERENCES household ON DELETE CASCADE,
            number INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX revoked_token_household ON revoked_token (household);
        """

    private static let households = """
        CREATE TABLE household (
            number INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            sequence INTEGER NOT NULL DEFAULT 0,
            -- Kept up with every write: records without tombstones; bytes as `RecordDecision` counts them, and blobs with their whole size.
            records INTEGER NOT NULL DEFAULT 0,
            bytes INTEGER NOT NULL DEFAULT 0,
            event_days INTEGER NOT NULL DEFAULT 30,
            generations BLOB NOT NULL DEFAULT x''
        ) STRICT;
        CREATE TABLE device (
            id BLOB NOT NULL PRIMARY KEY,
            household INTEGER NOT NULL REFERENCES household ON DELETE CASCADE,
            -- Absent: it has left, and waits for the roster to say so.
            token_hash BLOB UNIQUE,
            role TEXT NOT NULL,
            state TEXT NOT NULL,
            last_seen INTEGER
        ) STRICT;
        CREATE INDEX device_household ON device (household);
        CREATE TABLE roster (
            household INTEGER NOT NULL REFERENCES household ON DELETE CASCADE,
            number INTEGER NOT NULL,
            entry BLOB NOT NULL,
            PRIMARY KEY (household, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE invitation (
            id BLOB NOT NULL PRIMARY KEY,
            household INTEGER NOT NULL REFERENCES household ON DELETE CASCADE,
            inviter BLOB NOT NULL,
            proof_hash BLOB NOT NULL,
            expires INTEGER NOT NULL,
            withdrawn INTEGER NOT NULL DEFAULT 0,
            -- Who joined by it.
            device BLOB,
            role TEXT,
            token_hash BLOB,
            sealed BLOB
        ) STRICT;
        CREATE INDEX invitation_household ON invitation (household);
        CREATE TABLE setting (name TEXT NOT NULL PRIMARY KEY, value BLOB NOT NULL) STRICT;
        """

    private static let records = """
        CREATE TABLE record (
            household INTEGER NOT NULL REFERENCES household ON DELETE CASCADE,
            collection TEXT NOT NULL,
            id BLOB NOT NULL,
            sequence INTEGER NOT NULL,
            vault BLOB NOT NULL,
            revision INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            author BLOB NOT NULL,
            -- One id after the other; absent where there are none.
            blobs BLOB,
            -- Versions that it took the place of; absent where there are none.
            ancestors BLOB,
            signature BLOB NOT NULL,
            written INTEGER NOT NULL,
            -- Absent in a tombstone. Last, because it may be long.
            sealed BLOB
        ) STRICT;
        CREATE UNIQUE INDEX record_name ON record (household, collection, id);
        CREATE UNIQUE INDEX record_sequence ON record (household, sequence);
        CREATE INDEX record_tombstone ON record (household, written) WHERE sealed IS NULL;
        CREATE TABLE blob (
            household INTEGER NOT NULL REFERENCES household ON DELETE CASCADE,
            id BLOB NOT NULL,
            size INTEGER NOT NULL,
            hash BLOB NOT NULL,
            received INTEGER NOT NULL DEFAULT 0,
            complete INTEGER NOT NULL DEFAULT 0,
            -- When it was begun, last got bytes, or lost the last record that named it.
            idle_since INTEGER NOT NULL,
            was_named INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (household, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX blob_idle ON blob (idle_since);
        CREATE TABLE record_blob (
            household INTEGER NOT NULL REFERENCES household ON DELETE CASCADE,
            blob BLOB NOT NULL,
            collection TEXT NOT NULL,
            record BLOB NOT NULL,
            PRIMARY KEY (household, blob, collection, record)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX record_blob_record ON record_blob (household, collection, record);
        -- Blobs whose bytes are still to be removed. By the household's id: the household itself may be gone.
        CREATE TABLE garbage (
            household BLOB NOT NULL,
            blob BLOB NOT NULL,
            handed_out INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (household, blob)
        ) STRICT, WITHOUT ROWID;
        """

    private static let shares = """
        CREATE TABLE pin_share (
            device BLOB NOT NULL PRIMARY KEY REFERENCES device ON DELETE CASCADE,
            failures INTEGER NOT NULL DEFAULT 0,
            opens_at INTEGER NOT NULL DEFAULT 0,
            settled INTEGER NOT NULL DEFAULT 0,
            entries BLOB NOT NULL
        ) STRICT;
        CREATE TABLE push (
            device BLOB NOT NULL PRIMARY KEY REFERENCES device ON DELETE CASCADE,
            endpoint TEXT NOT NULL,
            p256dh TEXT NOT NULL,
            auth TEXT NOT NULL
        ) STRICT;
        """
}
