import Foundation
import UnlockPrompt

exit(PromptProgram.main(Array(CommandLine.arguments.dropFirst())))
