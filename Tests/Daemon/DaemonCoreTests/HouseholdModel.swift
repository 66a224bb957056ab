import Foundation
import HubAPI
import SealedFormats

/// What the devices of a household wrote, which of it they were told is kept, and who may not read it.
///
/// Every text is written once, so that it names one version of one note.
struct HouseholdModel {
    private struct Text {
        /// The device was told that it is kept; before that it may be there or not.
        var isAcknowledged = false
        /// Texts that took its place; each counts where it is there itself.
        var followers: [String] = []
        /// Somebody removed the note while this was in it.
        var isRemoved = false
        /// Phones whose removal the writer had learned of.
        var forbidden: Set<HubID> = []
    }

    private var texts: [String: Text] = [:]
    private var count = 0
    /// Which removals a device has learned of.
    private(set) var removals: [HubID: Set<HubID>] = [:]
    /// What the hub made up.
    private(set) var forgeries: Set<String> = []

    /// A title without what a conflict puts behind it.
    static func text(of title: String) -> String { title.components(separatedBy: " (conflict").first ?? title }

    // MARK: What happens

    /// A device begins to write a text, into a new note or in the place of another text.
    mutating func write(by device: HubID, after earlier: String? = nil) -> String {
        count += 1
        let text = "text \(count)"
        texts[text] = Text(forbidden: removals[device] ?? [])
        if let earlier { texts[Self.text(of: earlier)]?.followers.append(text) }
        return text
    }

    mutating func acknowledge(_ text: String) { texts[text]?.isAcknowledged = true }

    /// A conflict made it a note of its own: what it was to replace stays.
    mutating func keepBoth(_ text: String, _ earlier: String) {
        texts[Self.text(of: earlier)]?.followers.removeAll { $0 == text }
    }

    mutating func remove(_ title: String) { texts[Self.text(of: title)]?.isRemoved = true }

    mutating func learn(_ device: HubID, that gone: Set<HubID>) { removals[device, default: []].formUnion(gone) }

    mutating func forge() -> String {
        let text = "forgery \(forgeries.count)"
        forgeries.insert(text)
        return text
    }

    // MARK: What has to hold

    /// Acknowledged texts that are neither in these notes nor were followed or removed.
    func lost(in titles: [String]) -> [String] {
        let shown = Set(titles.map(Self.text))
        return texts.filter { $0.value.isAcknowledged && !isKept($0.key, shown) }.keys.sorted()
    }

    private func isKept(_ text: String, _ shown: Set<String>) -> Bool {
        guard let known = texts[text] else { return false }
        return shown.contains(text) || known.isRemoved || known.followers.contains { isKept($0, shown) }
    }

    /// Whether a phone must not read this text: it was written after the phone's removal.
    func isForbidden(_ title: String, to phone: HubID) -> Bool {
        texts[Self.text(of: title)]?.forbidden.contains(phone) ?? false
    }
}

/// What one device has shown: a note never goes back to a text that was in it before.
struct NoteScreen {
    private var current: [String: String] = [:]
    private var earlier: [String: Set<String>] = [:]

    /// - Parameters:
    ///   - notes: titles by the notes' ids.
    ///   - isComplete: a note that is missing is gone. Not so where keys of notes may still be on their way.
    /// - Returns: a sentence for each note that went back.
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
