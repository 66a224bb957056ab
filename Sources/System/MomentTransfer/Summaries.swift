extension PhotoImport.Report {
    /// What was done, for a person.
    ///
    /// - Parameter hint: how animated photos are kept whole.
    public func summary(removesOriginals: Bool, hint: String) -> String {
        var sentences = ["Imported \(counted(photos, "photo")) as \(counted(moments.count, "moment"))."]
        if duplicates > 0 { sentences.append("\(counted(duplicates, "duplicate")) skipped.") }
        if undated > 0 { sentences.append("\(counted(undated, "photo")) without a date: used the file's date.") }
        if reduced > 0 {
            sentences.append(
                "Of \(counted(reduced, "animated photo")) only the first picture was kept; \(hint).")
        }
        if removesOriginals { sentences.append("Removed \(counted(removed, "original")).") }
        if !skipped.isEmpty { sentences.append("\(counted(skipped.count, "file")) skipped, as listed.") }
        return sentences.joined(separator: " ")
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
            "Saved \(counted(saved.count, "photo")) in \(folder). They are not sealed: delete them when you are done."
        return missing == 0 ? wrote : "\(wrote) \(counted(missing, "photo")) could not be opened here."
    }
}

extension MomentExport.Report {
    /// What was written, for a person.
    public var summary: String {
        "Wrote \(counted(moments, "moment")) and \(counted(photos, "photo")) to \(folder), unsealed. "
            + "Open timeline.html to read them."
    }

    /// Nil if every photo was written.
    public var warning: String? { missing == 0 ? nil : "\(counted(missing, "photo")) could not be opened here." }
}

func counted(_ count: Int, _ what: String) -> String { count == 1 ? "1 \(what)" : "\(count) \(what)s" }
