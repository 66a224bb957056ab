import DesktopSession
import Foundation

exit(await AgentProgram.main(Array(CommandLine.arguments.dropFirst())))
