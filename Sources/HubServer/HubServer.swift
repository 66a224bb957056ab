// HubServer: being written.
