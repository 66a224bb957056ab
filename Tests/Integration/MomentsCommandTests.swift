import Foundation
import SystemTestSupport
import TestSupport
import Testing

/// `applocker moments` against a real AppLocker and the real decoder; ffmpeg draws the photos.
@Suite("The command line: moments")
struct MomentsCommandTests {
    private static let ffmpeg = "/usr/bin/ffmpeg"

    /// A picture with enough noise to be large; each seed makes another one.
    private func picture(_ path: String, seed: Int, size: String = "1200x900") throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.ffmpeg)
        process.arguments = [
            "-hide_banner", "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i",
            "testsrc2=size=\(size),noise=alls=40:all_seed=\(seed)", "-frames:v", "1", "-q:v", "3", path,
        ]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    private func moments(_ fixture: CommandLineFixture) async throws -> [[String: Any]] {
        let list = try await fixture.run("moments", "list", "--json")
        return try #require(try list.json()["moments"] as? [[String: Any]])
    }

    @Test("adds, finds, shows, saves and removes", .requires(.program(ffmpeg)))
    func fromAddingToRemoving() async throws {
        let fixture = try await CommandLineFixture()
        let (one, two) = (fixture.directory.path("one.jpg"), fixture.directory.path("two.jpg"))
        try picture(one, seed: 1, size: "2400x1800")
        try picture(two, seed: 2)
        let added = try await fixture.run(
            "moments", "add", "At the lake", "--words", "Cold, and lovely.", "--photo", one, "--photo", two, "--mood",
            "joy",
            "--date", "2024-05-17 18:30", "--place", "Zürich@47.3769,8.5417", "--json",
            passcodes: [CommandLineFixture.passcode])
        #expect(added.status == 0, "\(added.errors)")
        #expect((try added.json()["photos"] as? [[String: Any]])?.map { $0["width"] as? Int } == [2_400, 1_200])
        let shown = try await fixture.run("moments", "show", "At the lake")
        #expect(shown.output.contains("Cold, and lovely.") && shown.output.contains("Zürich · 47.37690, 8.54170"))
        #expect(try await fixture.run("moments", "list", "--search", "lovely zürich").output.contains("At the lake"))
        #expect(try await fixture.run("moments", "list", "--from", "2025-01-01").output == "No moment matches.\n")

        let folder = fixture.directory.path("saved")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let saved = try await fixture.run("moments", "show", "At the lake", "--save", folder, "--json")
        let files = try #require(try saved.json()["saved"] as? [[String: String]]).compactMap { $0["file"] }
        #expect(files.count == 2)
        for (file, original) in zip(files, [one, two]) {
            // ffmpeg's comment is removed, and nothing else.
            let (kept, whole) = (
                try Data(contentsOf: URL(fileURLWithPath: file)), try Data(contentsOf: URL(fileURLWithPath: original))
            )
            #expect(kept.count < whole.count && kept.suffix(10_000) == whole.suffix(10_000))
        }

        // No part of it is stored unsealed.
        let photos = try [one, two].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        for path in try FileManager.default.subpathsOfDirectory(atPath: fixture.directory.path("state")) {
            guard let bytes = FileManager.default.contents(atPath: fixture.directory.path("state") + "/" + path) else {
                continue
            }
            for secret in ["At the lake", "Zürich", "lovely"] {
                #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(path)")
            }
            #expect(bytes.range(of: Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10])) == nil, "a JPEG in \(path)")
            for photo in photos {
                #expect(bytes.range(of: photo.dropFirst(photo.count / 2).prefix(64)) == nil, "a photo in \(path)")
            }
        }

        #expect(try await fixture.run("moments", "remove", "At the lake").status == 0)
        #expect(try await moments(fixture).isEmpty)
        #expect(try await fixture.run("moments", "restore", "At the lake").status == 0)
        let gone = try await fixture.run("moments", "remove", "At the lake", "--for-good", "--yes")
        #expect(gone.status == 0, "\(gone.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("state/blobs/kept")).isEmpty)

        let refused = try await fixture.run("moments", "add", "Bad", "--photo", "/etc/passwd")
        #expect(refused.status == 2 && refused.errors.contains("JPEG, HEIC, PNG, WebP, AVIF or GIF"))
        #expect(try await fixture.run("moments", "show", "nothing").status == 4)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("state/blobs/passing")).isEmpty)
        try await fixture.end()
    }

    @Test("imports by day, skips duplicates, compares before it removes, and exports", .requires(.program(ffmpeg)))
    func importing() async throws {
        let fixture = try await CommandLineFixture()
        let folder = fixture.directory.path("old")
        try FileManager.default.createDirectory(atPath: folder + "/deep", withIntermediateDirectories: true)
        let day = 1_560_000_000.0
        for (name, seed, date) in [
            ("a", 1, day), ("b", 2, day + 60), ("deep/c", 3, day + 90_000), ("deep/a-again", 1, day),
        ] {
            // The earlier one takes longer to process.
            try picture("\(folder)/\(name).jpg", seed: seed, size: seed == 1 ? "4000x3000" : "1200x900")
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: date)], ofItemAtPath: "\(folder)/\(name).jpg")
        }
        try Data("no picture".utf8).write(to: URL(fileURLWithPath: folder + "/notes.txt"))
        try Data([0xFF, 0xD8, 0xFF, 0xE0]).write(to: URL(fileURLWithPath: folder + "/broken.jpg"))

        let first = try await fixture.run(
            "moments", "import", folder, "--json", passcodes: [CommandLineFixture.passcode])
        #expect(first.status == 1, "\(first.errors)")
        #expect(try first.json()["photos"] as? Int == 3 && first.json()["duplicates"] as? Int == 1)
        #expect((try first.json()["left"] as? [[String: String]])?.map { $0["code"] } == ["damaged"])
        let days = try await moments(fixture).map { ($0["photos"] as? [[String: Any]])?.map { $0["width"] as? Int } }
        #expect(days == [[1_200], [4_000, 1_200]])

        // One in the trash may soon be erased: its file stays.
        let newest = try #require(try await moments(fixture).first?["id"] as? String)
        #expect(try await fixture.run("moments", "remove", newest).status == 0)
        let some = try await fixture.run("moments", "import", folder, "--json", "--remove-originals", "--yes")
        #expect(try some.json()["photos"] as? Int == 0 && some.json()["removed"] as? Int == 3)
        #expect((try some.json()["left"] as? [[String: String]])?.map { $0["code"] }.contains("in_trash") == true)
        #expect(access(folder + "/deep/c.jpg", F_OK) == 0)
        #expect(try await fixture.run("moments", "restore", newest).status == 0)
        let again = try await fixture.run("moments", "import", folder, "--json", "--remove-originals", "--yes")
        #expect(try again.json()["photos"] as? Int == 0 && again.json()["removed"] as? Int == 1)
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() == ["broken.jpg", "deep", "notes.txt"])

        let out = fixture.directory.path("out")
        let wrong = try await fixture.run("moments", "export", out, "--yes", passcodes: ["wrong"])
        #expect(wrong.status == 1 && access(out, F_OK) != 0)
        let exported = try await fixture.run(
            "moments", "export", out, "--yes", "--json", passcodes: [CommandLineFixture.passcode])
        #expect(try exported.json()["photos"] as? Int == 3, "\(exported.errors)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: out).filter { $0.hasSuffix(".jpg") }
        #expect(files.count == 3 && files.allSatisfy { $0.hasPrefix("photos/2019/2019-06-") })
        let page = try String(contentsOfFile: out + "/timeline.html", encoding: .utf8)
        for file in files { #expect(page.contains("src=\"\(file)\"")) }
        let mode = try FileManager.default.attributesOfItem(atPath: out + "/" + files[0])[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(
            try await fixture.run("moments", "export", out, "--yes", passcodes: [CommandLineFixture.passcode]).status
                == 2)
        try await fixture.end()
    }

    @Test("exports what is left when photos are missing or damaged, and lists the others", .requires(.program(ffmpeg)))
    func exportingWithoutLostPhotos() async throws {
        let fixture = try await CommandLineFixture()
        let right = [CommandLineFixture.passcode]
        let names = ["one", "two", "three"].map { fixture.directory.path("\($0).jpg") }
        for (seed, size) in ["2400x1800", "800x600", "800x600"].enumerated() {
            try picture(names[seed], seed: seed, size: size)
        }
        let added = try await fixture.run(
            ["moments", "add", "At the lake", "--date", "2024-05-17 18:30"] + names.flatMap { ["--photo", $0] },
            input: "", passcodes: right)
        #expect(added.status == 0, "\(added.errors)")
        // By size: two photos, the first one's smaller size, and the first one.
        let kept = fixture.directory.path("state/blobs/kept")
        let sealed = try FileManager.default.contentsOfDirectory(atPath: kept).map { "\(kept)/\($0)" }.map { path in
            (path: path, bytes: try Data(contentsOf: URL(fileURLWithPath: path)))
        }.sorted { $0.bytes.count < $1.bytes.count }
        try #require(sealed.count == 4)
        unlink(sealed[3].path)
        var damaged = sealed[0].bytes
        damaged[damaged.count / 2] ^= 1
        try damaged.write(to: URL(fileURLWithPath: sealed[0].path))

        let out = fixture.directory.path("out")
        let exported = try await fixture.run("moments", "export", out, "--yes", "--json", passcodes: right)
        #expect(exported.status == 1, "\(exported.errors)")
        let report = try exported.json()
        #expect(report["moments"] as? Int == 1 && report["photos"] as? Int == 2 && report["missing"] as? Int == 1)
        for list in ["skipped", "reduced"] {
            let photos = try #require(report[list] as? [[String: Any]])
            #expect(photos.count == 1 && photos[0]["title"] as? String == "At the lake", "\(list)")
            #expect(photos[0]["day"] as? String == "2024-05-17", "\(list)")
        }
        let files = try FileManager.default.subpathsOfDirectory(atPath: out).filter { $0.hasSuffix(".jpg") }
        #expect(files.count == 2)
        let page = try String(contentsOfFile: out + "/timeline.html", encoding: .utf8)
        #expect(page.contains("1 file could not be opened."))
        let text = try await fixture.run("moments", "export", out + "-2", "--yes", passcodes: right)
        #expect(text.status == 1 && text.output.hasPrefix("Wrote 1 moment and 2 photos"))
        #expect(text.errors.contains("“At the lake”, 2024-05-17, photo 1 was written in a smaller size."))
        #expect(text.errors.contains("1 photo could not be opened here."))

        let backup = fixture.directory.path("all.aplockerbackup")
        let written = try await fixture.run("backup", "export", backup, "--json", passcodes: right)
        #expect(written.status == 1, "\(written.errors)")
        let incomplete = try #require(try written.json()["incomplete"] as? [[String: Any]])
        #expect(incomplete.count == 1 && incomplete[0]["name"] as? String == "At the lake")
        #expect(access(backup, F_OK) == 0)
        try await fixture.end()
    }

    @Test("imports what phones make by its own date, and reports what is reduced or not supported")
    func importingPhonesPhotos() async throws {
        let fixture = try await CommandLineFixture()
        let folder = fixture.directory.path("phone")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("System/PicturesTests/Fixtures")
        for name in ["turned.heic", "animated.gif"] {
            try FileManager.default.copyItem(
                at: fixtures.appendingPathComponent(name), to: URL(fileURLWithPath: folder + "/" + name))
        }
        try Data([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]).write(to: URL(fileURLWithPath: folder + "/raw.dng"))
        let imported = try await fixture.run(
            "moments", "import", folder, "--json", passcodes: [CommandLineFixture.passcode])
        let report = try imported.json()
        #expect(report["photos"] as? Int == 2 && report["reduced"] as? Int == 1 && report["undated"] as? Int == 1)
        let left = try #require(report["left"] as? [[String: String]])
        #expect(left.count == 1 && left[0]["sentence"]?.hasPrefix("TIFF and raw pictures are not supported") == true)
        let list = try await fixture.run("moments", "list", "--from", "2024-05-17", "--to", "2024-05-17", "--json")
        #expect((try list.json()["moments"] as? [Any])?.count == 1)
        try await fixture.end()
    }

    /// Killed at any time: a day is imported with all its photos, or not at all, and finally each photo once.
    @Test("an import that was killed can be repeated", .requires(.program(ffmpeg)))
    func killed() async throws {
        let fixture = try await CommandLineFixture()
        let folder = fixture.directory.path("old")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for seed in 0..<6 {
            let path = "\(folder)/\(seed).jpg"
            try picture(path, seed: seed)
            // Three days of two.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_560_000_000 + Double(seed / 2) * 86_400)],
                ofItemAtPath: path)
        }
        _ = try await fixture.run("vault", "unlock", passcodes: [CommandLineFixture.passcode])
        func sealedFiles() -> Int {
            ["passing", "kept"].reduce(0) { count, part in
                let files = try? FileManager.default.contentsOfDirectory(
                    atPath: fixture.directory.path("state/blobs/\(part)"))
                return count + (files?.count ?? 0)
            }
        }
        for more in 0...3 {
            let before = sealedFiles()
            let running = try fixture.start(["moments", "import", folder])
            await eventually(every: .milliseconds(1), "\(more) files are sealed") {
                sealedFiles() > before + more || !running.isRunning
            }
            running.kill(SIGKILL)
            _ = try? await running.wait()
            for moment in try await moments(fixture) { #expect((moment["photos"] as? [Any])?.count == 2) }
        }
        let last = try await fixture.run("moments", "import", folder)
        #expect(last.status == 0, "\(last.errors)")
        let found = try await moments(fixture)
        #expect(found.map { ($0["photos"] as? [Any])?.count } == [2, 2, 2])
        let ids = found.flatMap { ($0["photos"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String } }
        #expect(Set(ids).count == 6)
        // Content sealed by killed imports is removed at the next start.
        try await fixture.end()
        let again = try await fixture.startAgain()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("state/blobs/passing")).isEmpty)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path("state/blobs/kept")).count == 6)
        try await fixture.end(again)
    }
}
