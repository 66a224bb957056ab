import HubAPI
import HubStore

/// Migrates the tables, one hub at a time.
enum PostgresMigrations {
    /// Migrations are never edited once released, only added; a database's version is their number.
    private static let all = [
        households + records + shares, revokedTokens, blobUploadersAndRecordSizes, foundingInvitations,
        "ALTER TABLE invitation ADD COLUMN details bytea",
        "ALTER TABLE push ADD COLUMN title text, ADD COLUMN body text, ADD COLUMN navigate text",
        blobSizes, invitationExpiry,
        recordTimes, reminders,
    ]
    /// The key of the advisory lock; any number that no other program uses.
    private static let lock: Int64 = 0x6170_706c_6f63_6b72

    /// - Throws: `PostgresHubStoreError`.
    static func run(_ connection: PostgresConnection) throws {
        try connection.connect()
        defer { connection.disconnect() }
        do {
            try connection.begin()
            try connection.query("SELECT pg_advisory_xact_lock($1)", [.integer(lock)])
            try connection.command("CREATE TABLE IF NOT EXISTS hub_version (version bigint NOT NULL)")
            let version = try connection.query("SELECT version FROM hub_version").first?.integer(0) ?? 0
            guard version <= all.count else { throw PostgresHubStoreError(.fromTheFuture) }
            for migration in all.dropFirst(Int(version)) { try connection.command(migration) }
            if version < all.count {
                try connection.command("DELETE FROM hub_version")
                try connection.query("INSERT INTO hub_version VALUES ($1)", [.integer(Int64(all.count))])
            }
            try connection.commit()
        } catch let error as PostgresError {
            throw PostgresHubStoreError(error.isLost ? .unreachable : .refused, cause: error.message)
        }
    }

    // Times are seconds since 1970. Sealed bytes can't be compressed: EXTERNAL.

    /// By these tokens a revoked companion can read the roster up to the entry of this number, which revokes it.
    private static let revokedTokens = """
        CREATE TABLE revoked_token (
            token_hash bytea PRIMARY KEY,
            household bigint NOT NULL REFERENCES household ON DELETE CASCADE,
            number bigint NOT NULL
        );
        CREATE INDEX revoked_token_household ON revoked_token (household);
        """

    /// Tombstones are kept and counted; no query needs their time any more.
    private static let blobUploadersAndRecordSizes = """
        ALTER TABLE blob ADD COLUMN begun_by uuid;
        DROP INDEX record_tombstone;
        UPDATE household SET bytes = bytes + 512 *
            (SELECT count(*) FROM record WHERE record.household = household.number);
        """

    /// `due`: when to push the content to the device. `set_at`: when its list was set.
    private static let reminders = """
        CREATE TABLE reminder (
            device uuid NOT NULL REFERENCES push ON DELETE CASCADE,
            list uuid NOT NULL,
            due bigint NOT NULL,
            set_at bigint NOT NULL,
            content bytea NOT NULL,
            PRIMARY KEY (device, list, due)
        );
        CREATE INDEX reminder_due ON reminder (due);
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
        UPDATE household SET bytes = bytes + coalesce((SELECT sum(512 + (size + 4095) / 4096 * 4096 - size) FROM blob
            WHERE blob.household = household.number), 0)::bigint;
        """

    /// Which of them were used, and which households are shared vaults. Households that exist count as none.
    private static let foundingInvitations = """
        CREATE TABLE used_start (id uuid PRIMARY KEY, expires bigint NOT NULL);
        CREATE INDEX used_start_expires ON used_start (expires);
        ALTER TABLE invitation ADD COLUMN has_founded boolean NOT NULL DEFAULT false;
        ALTER TABLE household ADD COLUMN is_main boolean NOT NULL DEFAULT true;
        """

    private static let households = """
        CREATE TABLE household (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            id uuid NOT NULL UNIQUE,
            sequence bigint NOT NULL DEFAULT 0,
            -- Kept up with every write: records without tombstones; bytes as `RecordDecision` counts them, and blobs with their whole size.
            records bigint NOT NULL DEFAULT 0,
            bytes bigint NOT NULL DEFAULT 0,
            event_days bigint NOT NULL DEFAULT 30,
            generations bytea NOT NULL DEFAULT ''
        ) WITH (fillfactor = 50);
        CREATE TABLE device (
            id uuid PRIMARY KEY,
            household bigint NOT NULL REFERENCES household ON DELETE CASCADE,
            -- Absent: it has left, and waits for the roster to say so.
            token_hash bytea UNIQUE,
            role text NOT NULL,
            state text NOT NULL,
            last_seen bigint
        );
        CREATE INDEX device_household ON device (household);
        CREATE TABLE roster (
            household bigint NOT NULL REFERENCES household ON DELETE CASCADE,
            number bigint NOT NULL,
            entry bytea NOT NULL,
            PRIMARY KEY (household, number)
        );
        CREATE TABLE invitation (
            id uuid PRIMARY KEY,
            household bigint NOT NULL REFERENCES household ON DELETE CASCADE,
            inviter uuid NOT NULL,
            proof_hash bytea NOT NULL,
            expires bigint NOT NULL,
            withdrawn boolean NOT NULL DEFAULT false,
            -- Who joined by it.
            device uuid,
            role text,
            token_hash bytea,
            sealed bytea
        );
        CREATE INDEX invitation_household ON invitation (household);
        CREATE TABLE setting (name text PRIMARY KEY, value bytea NOT NULL);

        """

    private static let records = """
        CREATE TABLE record (
            household bigint NOT NULL REFERENCES household ON DELETE CASCADE,
            collection text NOT NULL,
            id uuid NOT NULL,
            sequence bigint NOT NULL,
            vault uuid NOT NULL,
            revision bigint NOT NULL,
            epoch bigint NOT NULL,
            author uuid NOT NULL,
            -- One id of 16 bytes after the other; absent where there are none.
            blobs bytea,
            signature bytea NOT NULL,
            written bigint NOT NULL,
            -- Absent in a tombstone.
            sealed bytea,
            -- Versions that it took the place of; absent where there are none.
            ancestors bytea,
            PRIMARY KEY (household, collection, id),
            UNIQUE (household, sequence)
        );
        ALTER TABLE record ALTER COLUMN sealed SET STORAGE EXTERNAL;
        CREATE INDEX record_tombstone ON record (household, written) WHERE sealed IS NULL;
        CREATE TABLE blob (
            household bigint NOT NULL REFERENCES household ON DELETE CASCADE,
            id uuid NOT NULL,
            size bigint NOT NULL,
            hash bytea NOT NULL,
            received bigint NOT NULL DEFAULT 0,
            complete boolean NOT NULL DEFAULT false,
            -- When it was begun, last got bytes, or lost the last record that named it.
            idle_since bigint NOT NULL,
            was_named boolean NOT NULL DEFAULT false,
            PRIMARY KEY (household, id)
        );
        CREATE INDEX blob_idle ON blob (idle_since);
        CREATE TABLE record_blob (
            household bigint NOT NULL REFERENCES household ON DELETE CASCADE,
            blob uuid NOT NULL,
            collection text NOT NULL,
            record uuid NOT NULL,
            PRIMARY KEY (household, blob, collection, record)
        );
        CREATE INDEX record_blob_record ON record_blob (household, collection, record);
        -- Blobs whose bytes are still to be removed. By the household's id: the household itself may be gone.
        CREATE TABLE garbage (
            household uuid NOT NULL,
            blob uuid NOT NULL,
            handed_out boolean NOT NULL DEFAULT false,
            PRIMARY KEY (household, blob)
        );
        CREATE TABLE blob_piece (
            household uuid NOT NULL,
            blob uuid NOT NULL,
            place bigint NOT NULL,
            bytes bytea NOT NULL,
            PRIMARY KEY (household, blob, place)
        );
        ALTER TABLE blob_piece ALTER COLUMN bytes SET STORAGE EXTERNAL;

        """

    private static let shares = """
        CREATE TABLE pin_share (
            device uuid PRIMARY KEY REFERENCES device ON DELETE CASCADE,
            failures bigint NOT NULL DEFAULT 0,
            opens_at bigint NOT NULL DEFAULT 0,
            settled boolean NOT NULL DEFAULT false,
            entries bytea NOT NULL
        );
        CREATE TABLE push (
            device uuid PRIMARY KEY REFERENCES device ON DELETE CASCADE,
            endpoint text NOT NULL,
            p256dh text NOT NULL,
            auth text NOT NULL
        );
        """
}
