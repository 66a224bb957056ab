import TestSupport

/// One thing that happens in a household. What it happens to is a number, and is counted off among what there is then: a seed gives
/// the same steps on every machine.
enum HouseholdStep: Sendable {
    case addNote(device: Int)
    case changeNote(device: Int, note: Int)
    case removeNote(device: Int, note: Int)
    case readOnPhone(Int)
    case cutOff(device: Int)
    case reconnect(device: Int)
    case letTimePass
    case lockVault(computer: Int)
    case kill(computer: Int)
    case pairPhone(computer: Int)
    case revokeAtComputer(Int, phone: Int)
    case revokeOnPhone(Int, other: Int)
    case lie(HubLie, device: Int)
    /// The network is whole and the hub is honest, until all devices have the same.
    case heal
    /// All devices have the same, and the hub's store is put back to what it was when they had, since the last phone was paired.
    case restoreHub(Int)

    /// The steps of a run: each so often as its weight says, and a healed network every 50 steps and at the end.
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
        let lie = HubLie.allCases.randomElement(using: &random) ?? .changedRecord
        return switch kind {
        case ..<14: .addNote(device: first)
        case ..<34: .changeNote(device: first, note: second)
        case ..<39: .removeNote(device: first, note: second)
        case ..<55: .readOnPhone(first)
        case ..<62: .cutOff(device: first)
        case ..<70: .reconnect(device: first)
        case ..<76: .letTimePass
        case ..<78: .lockVault(computer: first)
        case ..<81: .kill(computer: first)
        case ..<84: .pairPhone(computer: first)
        case ..<86: .revokeAtComputer(first, phone: second)
        case ..<88: .revokeOnPhone(first, other: second)
        default: .lie(lie, device: first)
        }
    }
}

/// What a lying hub does once, to one device.
enum HubLie: CaseIterable, Sendable {
    // What it serves.
    case olderRecord, changedRecord, strangersRecord, revokedRecord, repeatedNumbers, reversedOrder, withheldRecords
    case shorterRoster, anotherRoster
    // What it answers to a write.
    case olderConflict, anotherConflict, lostAnswer, refusal
}
