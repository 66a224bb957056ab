import DesktopWindow
import Foundation

exit(DesktopProgram.main(Array(CommandLine.arguments.dropFirst())))
