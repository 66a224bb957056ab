public import SealedFormats

// Several computers send keys independently and perhaps at once: their records must not collide.
extension Roster {
    /// The id of the record with which a computer sends a device its keys: the device's own id if that computer
    /// admitted it (docs/formats.md, "Keys of a household").
    public func keysRecord(from sender: ItemID, to receiver: ItemID) -> ItemID {
        admitter(of: receiver) == sender ? receiver : DeviceKeys.recordID(from: sender, to: receiver)
    }

    /// The epoch of the next status key that a computer makes. No other computer uses it: if there was never a second one,
    /// it is the next number, otherwise the computer's position in the roster within the next block of 256.
    ///
    /// - Parameter current: the newest epoch that the computer has.
    /// - Returns: the last of all epochs if none is left: a key under it is refused, because another one is known.
    public func nextStatusEpoch(after current: UInt32, by computer: ItemID) -> UInt32 {
        let computers = history.filter { $0.kind == .admit && $0.role == .computer }.map(\.device)
        guard current < UInt32.max - 511 else { return .max }
        guard computers.count > 1, let place = computers.firstIndex(of: computer) else { return current + 1 }
        return (current / 256 + 1) * 256 + UInt32(place % 256)
    }
}
