// HubStoreSQLite: being written.
