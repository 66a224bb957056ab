// HubClient: being written.
