import Glibc

/// dpkg's data about the installed packages, read from its database (/var/lib/dpkg): which package a file
/// belongs to, and which files a package has. Of the 140,000 paths of a usual desktop only those where programs can
/// be are remembered, by hash: some megabytes at most. Machines without dpkg have an empty database; RPM is not read.
struct DebianPackages: Sendable {
    struct Package: Sendable {
        let name: String
        /// The source package that it was built from; packages of one source belong together.
        var source: String
        /// Essential: yes, or Priority: required.
        var isRequired = false
    }

    /// Distinguishes states of the database without reading it.
    struct Stamp: Equatable, Sendable {
        let list: [Int]
        let status: [Int]
    }

    static let infoDirectory = "/var/lib/dpkg/info"
    static let statusFile = "/var/lib/dpkg/status"
    private static let fileLimit = 64 << 20

    private let files: HostFiles
    private(set) var packages: [String: Package] = [:]
    /// Packages that an installed package of another source depends on: their programs are there for others.
    private(set) var needed: Set<String> = []
    /// The package of each .list file; numbers below index this.
    private var listNames: [String] = []
    /// Each package's .list files, without the suffix; several for several architectures.
    private var lists: [String: [String]] = [:]
    private var firstOwner: [Int: Int32] = [:]
    private var furtherOwners: [Int: [Int32]] = [:]
    /// Directories that are symbolic links into /usr on a merged machine; dpkg lists the old names.
    private let mergedDirectories: [StaticString]

    static func stamp(_ files: HostFiles) -> Stamp {
        Stamp(
            list: files.resolve(infoDirectory)?.status.modified ?? [],
            status: files.resolve(statusFile)?.status.modified ?? [])
    }

    init(_ files: HostFiles) {
        self.files = files
        let candidates: [StaticString] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]
        mergedDirectories = candidates.filter { files.status("/\($0)")?.kind == .link }
        readStatus()
        for file in files.names(in: Self.infoDirectory) where file.hasSuffix(".list") {
            guard let bytes = try? files.read(Self.infoDirectory + "/" + file, limit: Self.fileLimit) else { continue }
            let number = Int32(listNames.count)
            let list = String(file.dropLast(".list".count))
            listNames.append(Self.packageName(list))
            lists[Self.packageName(list), default: []].append(list)
            Self.eachLine(bytes) { line in
                guard Self.mayHoldPrograms(line) else { return }
                let key = hash(line)
                if firstOwner[key] == nil {
                    firstOwner[key] = number
                } else {
                    furtherOwners[key, default: []].append(number)
                }
            }
        }
    }

    /// The packages that have this path (a real path), file or directory.
    func owners(of path: String) -> [String] {
        var path = path
        let key = path.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
        guard let first = firstOwner[key] else { return [] }
        return ([first] + (furtherOwners[key] ?? [])).map { listNames[Int($0)] }
    }

    func source(ofPackage name: String) -> String { packages[name]?.source ?? name }

    /// All paths of a package for which `isWanted` holds, as real paths on a merged machine.
    func paths(of package: String, where isWanted: (UnsafeRawBufferPointer) -> Bool) -> [String] {
        var found: [String] = []
        for list in lists[package] ?? [] {
            guard let bytes = try? files.read("\(Self.infoDirectory)/\(list).list", limit: Self.fileLimit) else {
                continue
            }
            Self.eachLine(bytes) { line in
                if isWanted(line) { found.append(merged(line)) }
            }
        }
        return found
    }

    private static func packageName(_ list: String) -> String { String(list.prefix { $0 != ":" }) }

    private func merged(_ line: UnsafeRawBufferPointer) -> String {
        let path = String(decoding: line, as: UTF8.self)
        return isUnmerged(line) ? "/usr" + path : path
    }

    private func isUnmerged(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count > 1, line[1] != UInt8(ascii: "u") else { return false }
        return mergedDirectories.contains { directory in
            let count = directory.utf8CodeUnitCount
            return Self.hasPrefix(line, directory, at: 1)
                && (line.count == count + 1 || line[count + 1] == UInt8(ascii: "/"))
        }
    }

    private func hash(_ line: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        if isUnmerged(line) {
            "/usr".utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
        hasher.combine(bytes: line)
        return hasher.finalize()
    }

    /// Documentation, translations and the like make up most of the lists and hold no programs.
    static func mayHoldPrograms(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count > 11 else { return line.count > 4 }
        if line[1] == UInt8(ascii: "e") { return false }
        guard hasPrefix(line, "/usr/") else { return !hasPrefix(line, "/var/") }
        switch line[5] {
        case UInt8(ascii: "i"): return false  // include
        case UInt8(ascii: "s"):
            return !hasPrefix(line, "/usr/share/") || !isSkippedShare(line)
        default: return true
        }
    }

    /// Of a path below /usr/share, by what follows that.
    private static func isSkippedShare(_ line: UnsafeRawBufferPointer) -> Bool {
        switch line[11] {
        case UInt8(ascii: "d"): hasPrefix(line, "doc/", at: 11)
        case UInt8(ascii: "m"): hasPrefix(line, "man/", at: 11)
        case UInt8(ascii: "l"): hasPrefix(line, "locale/", at: 11)
        case UInt8(ascii: "i"): hasPrefix(line, "icons/", at: 11) || hasPrefix(line, "info/", at: 11)
        case UInt8(ascii: "h"): hasPrefix(line, "help/", at: 11)
        case UInt8(ascii: "f"): hasPrefix(line, "fonts/", at: 11)
        case UInt8(ascii: "z"): hasPrefix(line, "zoneinfo/", at: 11)
        default: false
        }
    }

    static func hasPrefix(_ bytes: UnsafeRawBufferPointer, _ prefix: StaticString, at start: Int = 0) -> Bool {
        let count = prefix.utf8CodeUnitCount
        return bytes.count >= start + count && memcmp(bytes.baseAddress! + start, prefix.utf8Start, count) == 0
    }

    private static func eachLine(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            var start = 0
            while start < buffer.count {
                let end =
                    memchr(base + start, 0x0A, buffer.count - start).map { UnsafeRawPointer($0) - base } ?? buffer.count
                if end > start { body(UnsafeRawBufferPointer(rebasing: buffer[start..<end])) }
                start = end + 1
            }
        }
    }

    private mutating func readStatus() {
        guard let bytes = try? files.read(Self.statusFile, limit: Self.fileLimit) else { return }
        var current: Package?
        var isMeta = false
        var needs: [(source: String, names: String)] = []
        var found: [String: Package] = [:]
        var pendingNeeds = ""
        func finish() {
            guard let package = current else { return }
            found[package.name] = package
            if !isMeta { needs.append((package.source, pendingNeeds)) }
        }
        func value(_ line: UnsafeRawBufferPointer, _ key: StaticString) -> String? {
            guard Self.hasPrefix(line, key) else { return nil }
            return String(decoding: line[key.utf8CodeUnitCount...], as: UTF8.self).trimmingBlanks
        }
        Self.eachLine(bytes) { line in
            switch line[0] {
            case UInt8(ascii: "P"):
                if let name = value(line, "Package:") {
                    finish()
                    current = Package(name: name, source: name)
                    isMeta = false
                    pendingNeeds = ""
                } else if value(line, "Priority:") == "required" {
                    current?.isRequired = true
                } else if let names = value(line, "Pre-Depends:") {
                    pendingNeeds += "," + names
                }
            case UInt8(ascii: "S"):
                if let source = value(line, "Source:") {
                    current?.source = String(source.prefix { $0 != " " })
                } else if let section = value(line, "Section:") {
                    isMeta = section.hasSuffix("metapackages") || section.hasSuffix("tasks")
                } else if let state = value(line, "Status:"), !state.hasSuffix(" installed") {
                    isMeta = true
                }
            case UInt8(ascii: "E"): if value(line, "Essential:") == "yes" { current?.isRequired = true }
            case UInt8(ascii: "D"): if let names = value(line, "Depends:") { pendingNeeds += "," + names }
            default: break
            }
        }
        finish()
        packages = found
        for need in needs {
            for alternative in need.names.split(whereSeparator: { $0 == "," || $0 == "|" }) {
                let name = String(alternative.drop { $0 == " " }.prefix { $0 != " " && $0 != ":" && $0 != "(" })
                if !name.isEmpty, source(ofPackage: name) != need.source { needed.insert(name) }
            }
        }
    }
}
