import AppLockerCLI
import Foundation

let status = await AppLockerCommand.execute(Array(CommandLine.arguments.dropFirst()))
exit(status.rawValue)
