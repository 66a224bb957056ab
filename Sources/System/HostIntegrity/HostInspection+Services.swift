import CLinux

extension HostInspection {
    /// Where systemd runs the machine: whether AppLocker is one of its services, by the unit files and control groups
    /// that systemd makes (systemd.unit(5)).
    func serviceUnits() -> HostFinding {
        guard files.exists("/run/systemd/system") else {
            return HostFinding(
                .serviceUnits, .unknown, "systemd does not run this computer; how AppLocker is started is unknown.")
        }
        let units = ["applocker-gate.service", "applockerd.service"]
        let places = ["/etc/systemd/system/", "/lib/systemd/system/", "/usr/lib/systemd/system/"]
        // A package that was removed leaves its units masked.
        let missing = units.filter { unit in
            !places.contains { files.exists($0 + unit) && files.link($0 + unit) != "/dev/null" }
        }
        guard missing.isEmpty else {
            return HostFinding(
                .serviceUnits, .degraded,
                "AppLocker is not a system service here: it runs only while `applocker up` runs.",
                advice: "Install the package, which starts AppLocker before anybody can log in.")
        }
        guard !units.contains(where: { files.link("/etc/systemd/system/" + $0) == "/dev/null" }) else {
            return HostFinding(
                .serviceUnits, .degraded, "AppLocker's system services are masked: they can't be started.",
                advice: "Run `sudo systemctl unmask \(units.joined(separator: " "))`.")
        }
        guard isEnabled("applockerd.service") else {
            return HostFinding(
                .serviceUnits, .degraded, "AppLocker does not start with this computer: its services are not enabled.",
                advice: "Run `sudo systemctl enable --now \(units.joined(separator: " "))`.", fix: .enableServices)
        }
        guard files.exists("/sys/fs/cgroup/cgroup.controllers") else {
            return HostFinding(
                .serviceUnits, .unknown,
                "Whether AppLocker's services run can't be read, because control groups are not unified here.")
        }
        let idle = units.filter { unit in
            files.text("/sys/fs/cgroup/system.slice/\(unit)/cgroup.procs").map(\.isEmpty) != .success(false)
        }
        guard idle.isEmpty else {
            return HostFinding(
                .serviceUnits, .degraded, "These services of AppLocker do not run: \(idle.joined(separator: ", ")).",
                advice: "See `systemctl status \(idle[0])`.", fix: .startServices)
        }
        return HostFinding(.serviceUnits, .ok, "Gate and daemon run as system services.")
    }

    /// Whether another unit starts it, by the links that `systemctl enable` makes. The daemon starts the gate.
    private func isEnabled(_ unit: String) -> Bool {
        ["/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system"].contains { directory in
            let names = (try? files.names(in: directory).get()) ?? []
            return names.contains { name in
                (name.hasSuffix(".wants") || name.hasSuffix(".requires"))
                    && files.link("\(directory)/\(name)/\(unit)") != nil
            }
        }
    }

    /// Whether an intruder photo can be taken: a camera of the kernel (Video4Linux), and ffmpeg.
    func camera() -> HostFinding {
        let names = (try? files.names(in: "/dev").get()) ?? []
        let cameras = names.filter { $0.hasPrefix("video") && $0.dropFirst(5).allSatisfy(\.isNumber) && $0.count > 5 }
        let hasProgram = ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg", "/bin/ffmpeg"].contains(where: files.exists)
        switch (cameras.isEmpty, hasProgram) {
        case (false, true):
            return HostFinding(
                .camera, .ok, "Found a camera: \(cameras.map { "/dev/" + $0 }.joined(separator: ", ")).")
        case (false, false):
            return HostFinding(
                .camera, .degraded, "There is a camera, but no ffmpeg: no photo of a wrong passcode can be taken.",
                advice: "Install the package ffmpeg.", fix: .installFfmpeg)
        case (true, _):
            return HostFinding(.camera, .ok, "There is no camera: a wrong passcode is recorded without a photo.")
        }
    }

    /// Whether the clock is set by another one (adjtimex(2)). Schedules go by it; lockouts and grants do not.
    func clock() -> HostFinding {
        switch kernel.isClockSynchronised() {
        case true?: HostFinding(.clock, .ok, "The clock is synchronised.")
        case false?:
            HostFinding(
                .clock, .degraded, "The clock is not synchronised; schedules and the times in the log depend on it.",
                advice: "Turn it on with `timedatectl set-ntp true`.")
        case nil: HostFinding(.clock, .unknown, "Whether the clock is synchronised is unknown.")
        }
    }

    /// Whether the gate's parent holds a duplicate of its descriptor, so that the gate's death unlocks nothing.
    /// - Parameter gate: its process.
    public func descriptorStore(gate: Int32) -> HostFinding {
        guard case .success(let status) = files.text("/proc/\(gate)/status"),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("PPid:") }),
            let parent = Int(line.split(separator: "\t").last ?? "")
        else { return HostFinding(.descriptorStore, .unknown, "The gate's parent process is unknown.") }
        guard case .success(let numbers) = files.names(in: "/proc/\(parent)/fd") else {
            return HostFinding(
                .descriptorStore, .unknown, "Only root can see whether process \(parent) holds the gate's descriptor.")
        }
        let isHeld = numbers.contains { files.link("/proc/\(parent)/fd/\($0)") == "anon_inode:[fanotify]" }
        return isHeld
            ? HostFinding(
                .descriptorStore, .ok,
                "Process \(parent) also holds the gate's descriptor: the gate's death unlocks nothing.")
            : HostFinding(
                .descriptorStore, .degraded,
                "Only the gate holds its descriptor: killing it would allow the waiting launches.",
                advice: "Start AppLocker again; systemd needs FileDescriptorStoreMax=1 for the gate.")
    }
}
