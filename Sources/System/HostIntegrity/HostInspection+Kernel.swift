import Foundation

extension HostInspection {
    /// Libraries that every program loads can answer in AppLocker's place.
    func preloadedLibraries() -> HostFinding {
        switch files.text("/etc/ld.so.preload") {
        case .failure(.missing):
            return HostFinding(.preloadedLibraries, .ok, "No library is preloaded into every program.")
        case .failure(.unreadable):
            return HostFinding(.preloadedLibraries, .unknown, "/etc/ld.so.preload could not be read.")
        case .success(let text):
            let names = text.split { $0.isWhitespace || $0 == ":" }
            guard !names.isEmpty else {
                return HostFinding(.preloadedLibraries, .ok, "No library is preloaded into every program.")
            }
            return HostFinding(
                .preloadedLibraries, .degraded,
                "Preloaded into every program, including AppLocker: \(names.joined(separator: ", ")).",
                advice: "Empty /etc/ld.so.preload unless you put this there yourself.")
        }
    }

    /// Yama's ptrace_scope (Linux 3.4): who may read and change the memory of a running app.
    func tracing() -> HostFinding {
        switch files.number(KernelSetting.tracing.path) {
        case nil:
            return HostFinding(
                .tracing, .degraded,
                "This kernel has no ptrace scope: every program of a user can trace that user's running apps.",
                advice: "Use a kernel with the Yama security module, and set kernel.yama.ptrace_scope to 1 or more.")
        case let scope? where !KernelSetting.tracing.isSafe(scope):
            return HostFinding(
                .tracing, .degraded,
                "The ptrace scope is 0: every program of a user can trace that user's running apps.",
                advice: "Run `sudo applocker doctor --fix tracing`, which sets kernel.yama.ptrace_scope to 1.",
                fix: .kernelSetting(.tracing))
        case let scope?:
            return HostFinding(
                .tracing, .ok, "The ptrace scope is \(scope): programs can't trace others that they didn't start.")
        }
    }

    /// Whether ordinary users may make user namespaces, which only matters where an overlay in one evades the gate.
    func userNamespaces(_ overlay: KernelTrials.Outcome) -> HostFinding {
        let isForbidden =
            files.number("/proc/sys/user/max_user_namespaces") == 0
            || files.number("/proc/sys/kernel/unprivileged_userns_clone") == 0
        if isForbidden { return HostFinding(.userNamespaces, .ok, "Ordinary users can't create user namespaces.") }
        if files.number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1 {
            return HostFinding(.userNamespaces, .ok, "AppArmor restricts which programs can create user namespaces.")
        }
        guard files.exists("/proc/sys/user/max_user_namespaces") else {
            return HostFinding(.userNamespaces, .unknown, "This kernel does not report whether it has user namespaces.")
        }
        let canForbid = files.exists(KernelSetting.userNamespaces.path)
        switch overlay {
        case .held, .denied, .refused:
            return HostFinding(
                .userNamespaces, .ok,
                "Ordinary users can create user namespaces; in them a locked program can't start without a prompt either."
            )
        case .escaped:
            return HostFinding(
                .userNamespaces, .degraded,
                "Ordinary users can create user namespaces, and in them a locked program can start without a prompt.",
                advice: canForbid
                    ? "Run `sudo applocker doctor --fix user-namespaces`, or see the advice on overlay mounts."
                    : "Forbid them, or see the advice on overlay mounts.",
                fix: canForbid ? .kernelSetting(.userNamespaces) : nil)
        case .notTried:
            return HostFinding(
                .userNamespaces, .unknown,
                "Ordinary users can create user namespaces; whether that evades AppLocker here was not tested.")
        }
    }

    /// The SecureBoot variable of UEFI (section 3.3 of its specification), as efivarfs gives it: four bytes of attributes,
    /// then one byte, 1 for on.
    func secureBoot() -> HostFinding {
        guard files.exists("/sys/firmware/efi") else {
            return HostFinding(
                .secureBoot, .unknown, "This system was not started through UEFI, so the secure boot state is unknown.")
        }
        let variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        let off = HostFinding(
            .secureBoot, .degraded, "Secure boot is off: anybody with the machine can start another system on it.",
            advice: "Turn secure boot on in the firmware, and set a firmware password.")
        switch files.bytes(variable) {
        case .success(let bytes) where bytes.count == 5 && bytes[4] == 1:
            return HostFinding(.secureBoot, .ok, "Secure boot is on.")
        case .success(let bytes) where bytes.count == 5 && bytes[4] == 0: return off
        case .failure(.missing) where files.exists("/sys/firmware/efi/efivars"): return off
        default: return HostFinding(.secureBoot, .unknown, "The firmware's secure boot state could not be read.")
        }
    }

    /// kernel_lockdown(7): whether root may change the running kernel. AppLocker does not guard against root, so this
    /// is reported and not counted.
    func kernelLockdown() -> HostFinding {
        guard case .success(let text) = files.text("/sys/kernel/security/lockdown"),
            let mode = text.split(separator: "[").last?.split(separator: "]").first, text.contains("[")
        else { return HostFinding(.kernelLockdown, .unknown, "This kernel does not report whether it is locked down.") }
        return HostFinding(
            .kernelLockdown, .ok,
            mode == "none"
                ? "The kernel is not locked down: root can change it while it runs."
                : "The kernel is locked down (\(mode)): not even root can change it while it runs.")
    }

    /// /proc/sys/kernel/tainted, bits as in the kernel's documentation (admin-guide/tainted-kernels).
    func kernelTaint() -> HostFinding {
        guard let taint = files.number("/proc/sys/kernel/tainted") else {
            return HostFinding(.kernelTaint, .unknown, "The kernel's taint state could not be read.")
        }
        let meanings = [
            (1, "A module was loaded into the kernel by force."),
            (3, "A module was unloaded from the kernel by force."),
            (13, "An unsigned module was loaded into the kernel."),
        ]
        let found = meanings.filter { taint & (1 << $0.0) != 0 }.map(\.1)
        guard found.isEmpty else {
            return HostFinding(
                .kernelTaint, .degraded, found.joined(separator: " "),
                advice: "Identify the module with `journalctl -k --grep taint`.")
        }
        return HostFinding(
            .kernelTaint, .ok,
            taint == 0
                ? "No foreign code was loaded into the kernel."
                : "No unsigned code was loaded into the kernel (taint \(taint)).")
    }

    /// fs.fanotify.watchdog_timeout (Linux 6.18), in seconds: the kernel then writes to its log when an answer is late.
    func fanotifyWatchdog() -> HostFinding {
        switch files.number("/proc/sys/fs/fanotify/watchdog_timeout") {
        case nil, 0:
            return HostFinding(.fanotifyWatchdog, .ok, "The kernel sets no time limit for AppLocker's answers.")
        case let seconds?:
            return HostFinding(
                .fanotifyWatchdog, .ok,
                "The kernel logs each launch that waits longer than \(seconds) s for an answer; a prompt "
                    + "may take longer.")
        }
    }

    /// core(5): AppLocker's own processes never leave a core file, whatever the pattern. What is reported is whether
    /// programs that change their user leave readable ones (fs.suid_dumpable).
    func coreFiles() -> HostFinding {
        guard case .success(let text) = files.text("/proc/sys/kernel/core_pattern") else {
            return HostFinding(.coreFiles, .unknown, "The core file pattern could not be read.")
        }
        let pattern = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if let mode = files.number(KernelSetting.coreFiles.path), !KernelSetting.coreFiles.isSafe(mode) {
            return HostFinding(
                .coreFiles, .degraded, "Programs that change their user leave core files that their user can read.",
                advice: "Run `sudo applocker doctor --fix core-files`, which sets fs.suid_dumpable to 0.",
                fix: .kernelSetting(.coreFiles))
        }
        return HostFinding(
            .coreFiles, .ok,
            pattern.hasPrefix("|")
                ? "Core files go to \(pattern.dropFirst().split(separator: " ").first ?? "a program"); AppLocker leaves none."
                : "Core files are written as \"\(pattern)\"; AppLocker leaves none.")
    }
}
