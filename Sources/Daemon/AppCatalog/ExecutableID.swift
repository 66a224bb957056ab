/// The ids of programs that have no desktop entry: "exec:usr-bin-foo" for /usr/bin/foo. A "-" of a name is not distinguished from
/// one that stands for "/", so the way back asks the file system which paths are there.
enum ExecutableID {
    static let prefix = "exec:"
    private static let stepLimit = 4096

    /// - Parameter path: a real path.
    static func id(of path: String) -> String {
        prefix + path.dropFirst().map { $0 == "/" ? "-" : String($0) }.joined()
    }

    /// Every file that this id can stand for; usually one.
    static func paths(of id: String, _ files: HostFiles) -> [String] {
        let pieces = id.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        var steps = 0
        var found: [String] = []
        search(pieces[...], in: "", files, &steps, &found)
        return found
    }

    private static func search(
        _ pieces: ArraySlice<String>, in directory: String, _ files: HostFiles, _ steps: inout Int,
        _ found: inout [String]
    ) {
        var name = ""
        for (taken, piece) in pieces.enumerated() {
            steps += 1
            guard steps < stepLimit else { return }
            name += taken == 0 ? piece : "-" + piece
            guard !name.isEmpty, name != ".", name != "..", !name.contains("/") else { continue }
            guard let status = files.status(directory + "/" + name) else { continue }
            let rest = pieces.dropFirst(taken + 1)
            if rest.isEmpty {
                if status.kind == .regular { found.append(directory + "/" + name) }
            } else if status.kind == .directory {
                search(rest, in: directory + "/" + name, files, &steps, &found)
            }
        }
    }
}
