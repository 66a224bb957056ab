import ArgumentParser
import BlockingThread
import ControlAPI
import Foundation
import LocalControl
import MomentTransfer
import Pictures

extension MomentsCommand {
    struct Show: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a moment and its photos in the terminal.",
            discussion: """
                Photos are shown in the way that the terminal supports: kitty's graphics, sixels, or coloured blocks. They are not written to a disk unless you name a folder.

                  applocker moments show 'At the lake'
                  applocker moments show 3f9a --no-pictures
                  applocker moments show 3f9a --save /media/stick        its photos as unsealed files
                """)

        @Argument(help: MomentsCommand.momentHelp) var moment: String
        @Flag(help: "Show no photos.") var noPictures = false
        @Option(
            help: ArgumentHelp("Write the photos unsealed into this folder.", valueName: "folder"),
            completion: .directory)
        var save: String?
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func run() async throws {
            let content = try await vault.use { try await client.call(\.readMoment, parameter: moment) }
            if let save { return try await write(content, to: save, client) }
            if output.json { return try Output.standard.json(content) }
            Output.standard.lines(content.lines(Paint(.standard)))
            guard !noPictures, !content.moment.photos.isEmpty, let picture = TerminalPicture.find() else { return }
            let maker = PictureMaker.installed
            for photo in content.moment.photos {
                do {
                    let report = try await client.call(\.readPhoto, parameter: photo.id)
                    let bytes = try await PhotoDownload(client: client, photo: report).medium()
                    let text = try await runBlocking { try picture.text(of: bytes, maker, in: .current) }
                    Output.standard.write(text)
                } catch let error as PictureError {
                    Output.errors.line(Paint(.errors).warning("A photo can't be shown: \(error.sentence)"))
                } catch let error as ControlError where error.code == .hub || error.code == .noSuchItem {
                    Output.errors.line(Paint(.errors).warning("A photo is not here: \(error.message.terminalSafe)"))
                } catch let error as ControlError where error.code == .notReadable {
                    Output.errors.line(Paint(.errors).warning("A photo can't be shown: \(error.message.terminalSafe)"))
                }
            }
        }

        private func write(_ content: MomentContent, to folder: String, _ client: ControlClient) async throws {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
                throw CommandLineError(.usage, code: "no_such_folder", "\(folder) is not a folder; create it first.")
            }
            let report = try await PhotoSaving(client: client, folder: folder).run(content.moment)
            let written = report.saved.map { SavedPhoto(photo: $0.photo, file: $0.file) }
            if output.json {
                try Output.standard.json(
                    SavedPhotos(
                        moment: content.moment, saved: written, missing: report.missing, reduced: report.reduced))
            } else if content.moment.photos.isEmpty {
                Output.standard.line("The moment has no photos.")
            } else {
                Output.standard.lines(written.map(\.file.terminalSafe))
                if !written.isEmpty {
                    Output.standard.line("They are not sealed: delete them when you are done.")
                }
            }
            guard !report.warnings.isEmpty else { return }
            for warning in report.warnings { Output.errors.line(Paint(.errors).warning(warning)) }
            throw ExitStatusError(status: .refused)
        }
    }
}

private struct SavedPhoto: Encodable {
    var photo: String
    var file: String
}

private struct SavedPhotos: Encodable {
    var moment: MomentReport
    var saved: [SavedPhoto]
    /// Photos that could not be opened on this computer.
    var missing: Int
    /// Photos of which only a smaller size could be opened.
    var reduced: Int
}

extension [MomentReport.Photo] {
    /// "2 photos", "1 video": only the kinds that there are.
    var countedKinds: [String] {
        let counts = [
            (count(of: nil), "photo"), (count(of: .video), "video"), (count(of: .voice), "voice note"),
        ]
        return counts.filter { $0.0 > 0 }.map { counted($0.0, $0.1) }
    }
}

extension MomentContent {
    func lines(_ paint: Paint) -> [String] {
        var lines: [String] = []
        if !moment.title.isEmpty {
            lines.append(paint.strong((moment.favourite ? "♥ " : "") + moment.title.terminalSafe))
        }
        let facts = [moment.time.spoken, moment.mood, moment.place?.spoken ?? ""].filter { !$0.isEmpty }
        lines.append(paint.faint(facts.joined(separator: " · ").terminalSafe))
        if moment.removed != nil { lines.append(paint.warning("It is in the trash.")) }
        lines += words.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).terminalSafe }
        if words.isEmpty { lines.removeLast() }
        if !moment.photos.isEmpty {
            lines.append(paint.faint(moment.photos.countedKinds.joined(separator: ", ")))
        }
        return lines
    }
}
