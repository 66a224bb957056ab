extension PhotoImport.Report {
    /// What was done, for a person.
    ///
    /// - Parameter option: what keeps animated photos whole.
    public func summary(removesOriginals: Bool, option: String) -> String {
        var sentences = [imported]
        switch duplicates {
        case 0: break
        case 1: sentences.append("1 duplicate skipped.")
        default: sentences.append("\(duplicates) duplicates skipped.")
        }
        switch undated {
        case 0: break
        case 1: sentences.append("1 photo without a date: used the file's date.")
        default: sentences.append("\(undated) photos without a date: used the file's date.")
        }
        switch reduced {
        case 0: break
        case 1:
            sentences.append("Of 1 animated photo only the first picture was kept; \(option) keeps them whole.")
        default:
            sentences.append(
                "Of \(reduced) animated photos only the first picture was kept; \(option) keeps them whole.")
        }
        if removesOriginals {
            sentences.append(removed == 1 ? "Removed 1 original." : "Removed \(removed) originals.")
        }
        switch skipped.count {
        case 0: break
        case 1: sentences.append("1 file skipped, as listed.")
        default: sentences.append("\(skipped.count) files skipped, as listed.")
        }
        return sentences.joined(separator: " ")
    }

    private var imported: String {
        switch (photos, moments.count) {
        case (1, 1): "Imported 1 photo as 1 moment."
        case (1, let moments): "Imported 1 photo as \(moments) moments."
        case (_, 1): "Imported \(photos) photos as 1 moment."
        case (_, let moments): "Imported \(photos) photos as \(moments) moments."
        }
    }
}

extension PhotoImport.Report.Skipped {
    /// Why, with the file's path.
    public var line: String { sentence.contains(path) ? sentence : "\(path): \(sentence)" }
}

extension PhotoSaving.Report {
    /// What was written, for a person.
    public var summary: String {
        let wrote =
            saved.count == 1
            ? "Saved 1 photo in \(folder). It is not sealed: delete it when you are done."
            : "Saved \(saved.count) photos in \(folder). They are not sealed: delete them when you are done."
        return ([wrote] + warnings).joined(separator: " ")
    }

    /// How many photos were not written as they were stored; empty if all were.
    public var warnings: [String] { incomplete(missing: missing, reduced: reduced) }
}

extension MomentExport.Report {
    /// What was written, for a person.
    public var summary: String {
        switch (moments, photos) {
        case (1, 1):
            "Wrote 1 moment and 1 photo to \(folder), unsealed. Open timeline.html to read them."
        case (1, _):
            "Wrote 1 moment and \(photos) photos to \(folder), unsealed. Open timeline.html to read them."
        case (_, 1):
            "Wrote \(moments) moments and 1 photo to \(folder), unsealed. Open timeline.html to read them."
        default:
            "Wrote \(moments) moments and \(photos) photos to \(folder), unsealed. Open timeline.html to read them."
        }
    }

    /// How much was not written as it was stored, without naming it; empty if everything was.
    public var warnings: [String] {
        let warnings = incomplete(missing: skipped.count, reduced: reduced.count)
        switch unreadable {
        case 0: return warnings
        case 1: return warnings + ["1 moment could not be opened here."]
        default: return warnings + ["\(unreadable) moments could not be opened here."]
        }
    }

    /// The photos that were not written as they were stored, a line each.
    public var lines: [String] {
        skipped.map { "\($0.name) could not be opened here." }
            + reduced.map { "\($0.name) was written in a smaller size." }
    }
}

extension MomentExport.Report.Photo {
    fileprivate var name: String { title.isEmpty ? "\(day), photo \(number)" : "“\(title)”, \(day), photo \(number)" }
}

private func incomplete(missing: Int, reduced: Int) -> [String] {
    var sentences: [String] = []
    switch missing {
    case 0: break
    case 1: sentences.append("1 photo could not be opened here.")
    default: sentences.append("\(missing) photos could not be opened here.")
    }
    switch reduced {
    case 0: break
    case 1: sentences.append("Of 1 photo only a smaller size could be opened here.")
    default: sentences.append("Of \(reduced) photos only a smaller size could be opened here.")
    }
    return sentences
}
