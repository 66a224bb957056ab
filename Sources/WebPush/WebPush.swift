// WebPush: being written.
