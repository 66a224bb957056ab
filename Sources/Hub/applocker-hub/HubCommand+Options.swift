import ArgumentParser
import Foundation
import Glibc
import HubServer

/// "500M", "10G", or bytes.
struct ByteCount: ExpressibleByArgument, CustomStringConvertible {
    let bytes: UInt64

    init(bytes: UInt64) { self.bytes = bytes }

    init?(argument: String) {
        let units: [Character: UInt64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = UInt64(unit == nil ? argument : String(argument.dropLast())), number > 0 else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow, bytes <= 1 << 60 else { return nil }
        self.bytes = bytes
    }

    var description: String {
        bytes % (1 << 30) == 0 ? "\(bytes >> 30)G" : bytes % (1 << 20) == 0 ? "\(bytes >> 20)M" : "\(bytes)"
    }
}

extension HubCommand {
    func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--certificate and --key belong together: use both, or none behind a reverse proxy.")
        }
        guard (1...3_650).contains(eventDays) else { throw ValidationError("--event-days takes 1 to 3650.") }
        for rate in [householdRate, deviceRate, addressRate].compactMap({ $0 }) where !(0...1e9).contains(rate) {
            throw ValidationError(
                "--household-rate, --device-rate and --address-rate take 0 for no limit, or at most 1000000000.")
        }
        for count in [connections, connectionsPerAddress].compactMap({ $0 }) where !(1...1 << 24).contains(count) {
            throw ValidationError("--connections and --connections-per-address take 1 to \(1 << 24).")
        }
        guard recordingLimit.bytes <= 4 << 30 else { throw ValidationError("--recording-limit takes at most 4G.") }
        if let households, !(1...1 << 30).contains(households) {
            throw ValidationError("--households takes 1 to \(1 << 30).")
        }
        _ = try listener()
        _ = try proxies()
    }

    func configuration(_ directory: HubDirectory) throws -> HubConfiguration {
        var limits = HubLimits()
        limits.quotaBytes = quota.bytes
        limits.recordingBytes = recordingLimit.bytes
        limits.households = households
        func set(_ rate: WritableKeyPath<HubLimits, HubLimits.Rate>, _ perSecond: Double?) {
            guard let perSecond else { return }
            limits[keyPath: rate] = .init(perSecond: perSecond, burst: max(10, perSecond * 10))
        }
        set(\.householdRequests, householdRate)
        set(\.deviceRequests, deviceRate)
        set(\.addressRequests, addressRate)
        if deviceRate == 0 { limits.streamsPerDevice = limits.streamsPerHousehold }
        if addressRate == 0 { limits.addressBytes = .none }
        if householdRate == 0 { limits.householdBytes = .none }
        if let connections { limits.connections = connections }
        if let connectionsPerAddress { limits.connectionsPerAddress = connectionsPerAddress }
        var push = PushSettings()
        push.contact = pushContact
        push.allowsPrivateAddresses = allowPrivatePush
        return HubConfiguration(
            listener: try listener(),
            certificate: certificate.flatMap { chain in key.map { .init(chainPath: chain, keyPath: $0) } },
            registration: try permission(directory),
            trustedProxies: try proxies(),
            metricsToken: try metricsTokenFile.map { try RegistrationToken.load(path: $0) },
            webDirectory: web == "none" ? nil : web ?? InstalledCompanion.directory(), eventDays: eventDays,
            limits: limits, push: push)
    }

    private func permission(_ directory: HubDirectory) throws -> HubConfiguration.Registration {
        switch registration {
        case .open: .open
        case .closed: .closed
        case .token: .token(try RegistrationToken.load(path: directory.registrationToken))
        }
    }

    func listener() throws -> HubConfiguration.Listener {
        if listen.hasPrefix("unix:") { return .unix(path: String(listen.dropFirst("unix:".count))) }
        guard let colon = listen.lastIndex(of: ":"), let port = UInt16(listen[listen.index(after: colon)...]) else {
            throw ValidationError("--listen takes HOST:PORT, [IPv6]:PORT or unix:PATH, not \"\(listen)\".")
        }
        return .tcp(host: host(listen), port: Int(port))
    }

    private func proxies() throws -> [AddressRange] {
        try trustedProxy.map { text in
            guard let range = AddressRange(text) else {
                throw ValidationError(
                    "--trusted-proxy takes an address, a network such as 10.0.0.0/8, or \"unix\", not \"\(text)\".")
            }
            return range
        }
    }

    /// Every stream needs a descriptor.
    func raiseDescriptorLimit() {
        var files = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        files.rlim_cur = files.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    }
}

/// The part before the last colon, without the brackets of an IPv6 address.
func host(_ listen: String) -> String {
    let host = listen.lastIndex(of: ":").map { listen[..<$0] } ?? listen[...]
    return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host)
}
