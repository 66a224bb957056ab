import BlockingThread
import Foundation
import ProcessSpawning

/// This computer in a network of Tailscale, which has names and certificates.
enum Tailscale: Equatable {
    case notInstalled
    /// Installed, but not logged in, or stopped.
    case notConnected
    /// Connected; the network issues no certificates.
    case withoutCertificates(name: String)
    case connected(name: String)

    /// As `tailscale status --json` reports it.
    ///
    /// - Parameter path: folders of programs, separated by colons.
    static func current(path: String) async -> Tailscale {
        let programs: [String] = path.split(separator: ":").map { "\($0)/tailscale" }
        guard let program = programs.first(where: { access($0, X_OK) == 0 }) else { return .notInstalled }
        return await runBlocking { status(of: program) }
    }

    private static func status(of program: String) -> Tailscale {
        // Go programs reserve far more address space than they use.
        guard
            let process = try? ConfinedProcess(
                executable: program, arguments: [program, "status", "--json"],
                confinement: Confinement(processorSeconds: 5, addressSpace: UInt64(Int64.max)))
        else { return .notConnected }
        let output = try? process.read(within: .seconds(5), maximumBytes: 4 << 20).output.copy()
        if !process.end(within: .seconds(1)) { process.collect() }
        return output.map { Tailscale(report: Data($0)) } ?? .notConnected
    }

    /// - Parameter report: the JSON of `tailscale status`, with the fields of its ipnstate.Status.
    init(report: Data) {
        guard let status = try? JSONDecoder().decode(Status.self, from: report), status.backendState == "Running",
            let name = status.own?.name.map({ $0.hasSuffix(".") ? String($0.dropLast()) : $0 }), Self.isHostName(name)
        else {
            self = .notConnected
            return
        }
        self =
            status.certificateNames?.contains(name) == true ? .connected(name: name) : .withoutCertificates(name: name)
    }

    private static func isHostName(_ name: String) -> Bool {
        name.utf8.count <= 253 && name.contains(".")
            && name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
            }
    }

    private struct Status: Decodable {
        struct Own: Decodable {
            var name: String?
            enum CodingKeys: String, CodingKey { case name = "DNSName" }
        }
        var backendState: String
        var own: Own?
        var certificateNames: [String]?
        enum CodingKeys: String, CodingKey {
            case backendState = "BackendState"
            case own = "Self"
            case certificateNames = "CertDomains"
        }
    }
}
