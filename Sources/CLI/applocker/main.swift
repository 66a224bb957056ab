import AppLockerCLI
import Foundation
import ProcessHardening

do {
    try ProcessHardening.apply()
} catch {
    FileHandle.standardError.write(Data("applocker: \(error.sentence)\n".utf8))
    exit(1)
}
let status = await AppLockerCommand.execute(Array(CommandLine.arguments.dropFirst()))
exit(status.rawValue)
