// HubStorePostgres: being written.
