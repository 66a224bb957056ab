import TestSupport

/// One step of a household. Its target is a number, modulo the number of targets at that time: a seed has the same
/// steps on every machine.
enum HouseholdStep: Sendable {
    case addNote(device: Int)
    case changeNote(device: Int, note: Int)
    case removeNote(device: Int, note: Int)
    case readOnPhone(Int)
    case disconnect(device: Int)
    case reconnect(device: Int)
    case advanceTime
    case lockVault(computer: Int)
    case kill(computer: Int)
    case pairPhone(computer: Int)
    case revokeAtComputer(Int, phone: Int)
    case revokeOnPhone(Int, other: Int)
    case misbehave(HubMisbehaviour, device: Int)
    /// The network works and the hub behaves, until all devices have the same notes.
    case heal
    /// After `heal`, the hub's store is restored to a backup from after the last pairing.
    case restoreHub(Int)

    /// The steps of a run: random ones by their weights, and `heal` every 50 steps and at the end.
    static func run(of count: Int, _ random: inout RepeatableRandom) -> [HouseholdStep] {
        (1...count).map { $0 % 50 == 0 ? .heal : any(&random) }
    }

    /// Three times, but not at the end.
    static func restoreHub(in steps: inout [HouseholdStep], _ random: inout RepeatableRandom) {
        for _ in 0..<3 {
            let place = Int.random(in: 0..<steps.count, using: &random)
            steps.insert(.restoreHub(Int.random(in: 0..<60, using: &random)), at: place)
        }
    }

    private static func any(_ random: inout RepeatableRandom) -> HouseholdStep {
        let kind = Int.random(in: 0..<100, using: &random)
        let (first, second) = (Int.random(in: 0..<60, using: &random), Int.random(in: 0..<60, using: &random))
        let misbehaviour = HubMisbehaviour.allCases.randomElement(using: &random) ?? .changedRecord
        return switch kind {
        case ..<14: .addNote(device: first)
        case ..<34: .changeNote(device: first, note: second)
        case ..<39: .removeNote(device: first, note: second)
        case ..<55: .readOnPhone(first)
        case ..<62: .disconnect(device: first)
        case ..<70: .reconnect(device: first)
        case ..<76: .advanceTime
        case ..<78: .lockVault(computer: first)
        case ..<81: .kill(computer: first)
        case ..<84: .pairPhone(computer: first)
        case ..<86: .revokeAtComputer(first, phone: second)
        case ..<88: .revokeOnPhone(first, other: second)
        default: .misbehave(misbehaviour, device: first)
        }
    }
}

/// One violation of the protocol by the hub, towards one device.
enum HubMisbehaviour: CaseIterable, Sendable {
    // In answers to reading.
    case olderRecord, changedRecord, strangersRecord, revokedRecord, repeatedNumbers, reversedOrder, withheldRecords
    case shorterRoster, anotherRoster
    // In answers to writing.
    case olderConflict, anotherConflict, lostAnswer, refusal
}
