import Foundation
import UnlockPrompt

exit(PromptProgram.main(Array(CommandLine.arguments.dropFirst()), version: "0.1.0"))
