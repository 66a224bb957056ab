import Foundation
import HubAPI
import SealedFormats

/// The texts that the devices of a household wrote, which of them were acknowledged, and which phones must not read
/// them.
///
/// Each text is unique, so that it identifies one version of one note.
struct HouseholdModel {
    private struct Text {
        /// Until its write is acknowledged, a text may exist or not.
        var isAcknowledged = false
        /// Texts that replaced it.
        var followers: [String] = []
        /// The note was removed while it had this text.
        var isRemoved = false
        /// Phones whose revocation the writer had received.
        var forbidden: Set<HubID> = []
    }

    private var texts: [String: Text] = [:]
    private var count = 0
    /// The revocations that a device has received.
    private(set) var revocations: [HubID: Set<HubID>] = [:]
    /// The texts that the hub forged.
    private(set) var forgeries: Set<String> = []

    /// A title without the suffix of a conflict copy.
    static func text(of title: String) -> String { title.components(separatedBy: " (conflict").first ?? title }

    // MARK: Changes

    /// A device starts to write a text, to a new note or as a replacement of another text.
    mutating func write(by device: HubID, after earlier: String? = nil) -> String {
        count += 1
        let text = "text \(count)"
        texts[text] = Text(forbidden: revocations[device] ?? [])
        if let earlier { texts[Self.text(of: earlier)]?.followers.append(text) }
        return text
    }

    mutating func acknowledge(_ text: String) { texts[text]?.isAcknowledged = true }

    /// The text became a conflict copy, so the text that it was to replace stays.
    mutating func keepBoth(_ text: String, _ earlier: String) {
        texts[Self.text(of: earlier)]?.followers.removeAll { $0 == text }
    }

    mutating func remove(_ title: String) { texts[Self.text(of: title)]?.isRemoved = true }

    mutating func receive(revocationsOf phones: Set<HubID>, at device: HubID) {
        revocations[device, default: []].formUnion(phones)
    }

    mutating func forge() -> String {
        let text = "forgery \(forgeries.count)"
        forgeries.insert(text)
        return text
    }

    // MARK: Invariants

    /// Acknowledged texts that are not in these notes and were neither replaced nor removed.
    func lost(in titles: [String]) -> [String] {
        let shown = Set(titles.map(Self.text))
        return texts.filter { $0.value.isAcknowledged && !isKept($0.key, shown) }.keys.sorted()
    }

    private func isKept(_ text: String, _ shown: Set<String>) -> Bool {
        guard let known = texts[text] else { return false }
        return shown.contains(text) || known.isRemoved || known.followers.contains { isKept($0, shown) }
    }

    /// Whether a phone must not read this text, because it was written after the phone's revocation.
    func isForbidden(_ title: String, to phone: HubID) -> Bool {
        texts[Self.text(of: title)]?.forbidden.contains(phone) ?? false
    }
}

/// The notes that one device has shown: a note never returns to an earlier text.
struct NoteScreen {
    private var current: [String: String] = [:]
    private var earlier: [String: Set<String>] = [:]

    /// - Parameters:
    ///   - notes: titles by note id.
    ///   - isComplete: whether a missing note was removed; false if its key may not have arrived yet.
    /// - Returns: a sentence for each note that returned to an earlier text.
    mutating func show(_ notes: [String: String], isComplete: Bool) -> [String] {
        var wrong: [String] = []
        for (id, title) in current where notes[id] != title {
            guard notes[id] != nil || isComplete else { continue }
            earlier[id, default: []].insert(title)
            current[id] = nil
        }
        for (id, title) in notes {
            if earlier[id]?.contains(title) == true { wrong.append("note \(id) shows \"\(title)\" again") }
            current[id] = title
        }
        return wrong
    }
}
