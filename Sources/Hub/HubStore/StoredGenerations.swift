package import Foundation
package import HubAPI

/// A household's generations as both stores keep them: 16 bytes of id and 8 of the sequence number for each, oldest
/// first.
///
/// Each run of a store has a random id, which a household stores before the first write of that run. A restored store
/// begins another run, so its list differs from what a device saw, even if its numbers are as high as before.
package struct StoredGenerations: Sendable {
    private static let length = 24

    package private(set) var bytes: Data
    private var hasChanged = false
    /// Nil if no generation began since `init`: the stored value remains.
    package var changedBytes: Data? { hasChanged ? bytes : nil }

    package init(bytes: Data) { self.bytes = bytes }

    /// - Returns: whether it wasn't the last one.
    package mutating func begin(_ run: HubID, after sequence: UInt64) -> Bool {
        let id = Data(run.bytes)
        guard bytes.suffix(Self.length).prefix(id.count) != id else { return false }
        bytes += id + withUnsafeBytes(of: sequence.bigEndian) { Data($0) }
        bytes = Data(bytes.suffix(Self.length * HubGeneration.maximumCount))
        hasChanged = true
        return true
    }

    package var list: [HubGeneration] {
        let all = [UInt8](bytes)
        return stride(from: 0, to: all.count - all.count % Self.length, by: Self.length).compactMap { start in
            HubID(bytes: all[start..<start + 16]).map { id in
                HubGeneration(
                    id: id, after: all[start + 16..<start + Self.length].reduce(0) { $0 << 8 | UInt64($1) })
            }
        }
    }
}
