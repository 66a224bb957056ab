// The companion against a real daemon and hub is in Tests/Integration.
