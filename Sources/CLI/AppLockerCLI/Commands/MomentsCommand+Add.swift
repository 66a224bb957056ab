import ArgumentParser
import BlockingThread
import ControlAPI
import FileLocking
import Foundation
import LocalControl
import MomentTransfer
import Pictures
import SealedFormats

extension MomentsCommand {
    struct Add: MomentsVaultCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a moment.",
            discussion: """
                Without --date the time is that of the first photo, else now. Other programs can see the text in an argument while the command runs; "-" reads the words from standard input instead.

                  applocker moments add 'At the lake' --photo one.jpg --photo two.jpg
                  echo 'Cold, and lovely.' | applocker moments add 'At the lake' --words - --mood joy
                  applocker moments add 'At the lake' --date '2024-05-17 18:30' --place 'Zürich@47.3769,8.5417'

                Moods are love, joy, calm, proud, excited, grateful, funny, sad, or a word of your own. Photos are JPEG, \
                HEIC, PNG, WebP, AVIF or GIF, of at most 50 MiB each. Videos and voice notes are added in the companion.
                """)

        @Argument(help: "The title.") var title: String
        @Option(help: "The words, or \"-\" for standard input.") var words: String?
        @Option(help: ArgumentHelp("When it happened: 2024-05-17, 2024-05-17 18:30, 2024-05-17T18:30:05+02:00."))
        var date: DateArgument?
        @Option(help: "A mood.") var mood: String = ""
        @Option(
            help: ArgumentHelp("Where it happened: a name, a point in degrees, or both.", valueName: "name[@lat,lon]"))
        var place: PlaceArgument?
        @Option(help: ArgumentHelp("A photo; may be repeated.", valueName: "file"), completion: .file())
        var photo: [String] = []
        @Flag(help: "Keep the original files, with their camera and place.")
        var keepOriginal = false
        @Flag(help: "Use the place of the first photo.") var photoPlace = false
        @Flag(help: "A favourite.") var favourite = false
        @OptionGroup var chosen: MomentsVaultOptions
        @OptionGroup var options: CommonOptions

        func validate() throws {
            guard photo.count <= MomentBody.maximumPhotos else {
                throw ValidationError("A moment has at most \(MomentBody.maximumPhotos) photos.")
            }
        }

        func run() async throws {
            let saved = try await Interruption.cancels(saying: "Interrupted. Nothing was added.", work)
            if output.json { return try Output.standard.json(saved) }
            let photos = saved.photos.isEmpty ? "" : ", \(counted(saved.photos.count, "photo"))"
            Output.standard.line(
                "Added \(saved.named.terminalSafe) (\(saved.id.prefix(8)), \(saved.time.spoken)\(photos)).")
        }

        private func work() async throws -> MomentReport {
            let words = self.words == "-" ? try await StandardInput.text(limit: 1 << 20) : self.words ?? ""
            // A wrong name among them is reported before the passcode prompt.
            for path in photo { _ = try ReadableFile.named(path) }
            let upload = PhotoUpload(client: client, vault: try await vault.id())
            let maker = PictureMaker.installed
            let progress = FileProgress("Adding", total: UInt64(photo.count), isShown: !output.json && !photo.isEmpty)
            defer { progress.end() }
            var photos: [NewPhoto] = []
            var times: [MomentTime] = []
            var point: (latitude: Double, longitude: Double)?
            do {
                for path in photo {
                    try Task.checkCancellation()
                    let (chosen, made) = try await runBlocking {
                        let chosen = try ChosenPhoto(path)
                        return (chosen, try chosen.prepared(maker, keepsOriginal: keepOriginal))
                    }
                    photos.append(try await upload.run(made, of: chosen))
                    if made.isReducedToOnePicture {
                        Output.errors.line(
                            Paint(.errors).warning(
                                "Of \(path) only the first picture is kept; --keep-original keeps it whole."
                                    .terminalSafe))
                    }
                    if let time = MomentTime(made.exif) { times.append(time) }
                    if point == nil, let latitude = made.exif?.latitude, let longitude = made.exif?.longitude {
                        point = (latitude, longitude)
                    }
                    progress.finish(1)
                    progress.show(0)
                }
                var place = place?.place
                if photoPlace, let point, place?.latitude == nil {
                    place = MomentPlace(name: place?.name, latitude: point.latitude, longitude: point.longitude)
                }
                let time =
                    date?.time ?? times.min { $0.date < $1.date } ?? MomentTime(date: Date().timeIntervalSince1970)
                return try await client.call(
                    \.addMoment,
                    body: NewMoment(
                        id: ItemID.random().description, title: title, words: words, date: time.date,
                        offset: time.offset, mood: mood, place: place, favourite: favourite, photos: photos))
            } catch {
                await upload.discard(photos)
                throw error
            }
        }
    }
}
