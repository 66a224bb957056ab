public import DBus
import Foundation
public import TestSupport
import Testing

/// A private dbus-daemon without the machine's services.
public final class PrivateSessionBus: Sendable {
    public let directory: TemporaryDirectory
    public let address: String
    public let daemon: ChildProcess

    public init() async throws {
        directory = try TemporaryDirectory()
        address = "unix:path=" + directory.path("bus")
        let configuration = try directory.write(
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>session</type><listen>\(address)</listen>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/><allow user="*"/></policy></busconfig>
            """, to: "bus.conf")
        let daemon = try ChildProcess("dbus-daemon", ["--config-file", configuration, "--nofork", "--print-address"])
        self.daemon = daemon
        await eventually("dbus-daemon listens") { daemon.output.contains("\n") || !daemon.isRunning }
        try #require(daemon.isRunning, "\(daemon.errorOutput)")
    }

    public func connect() throws -> DBusConnection { try DBusConnection(.address(address)) }
}
