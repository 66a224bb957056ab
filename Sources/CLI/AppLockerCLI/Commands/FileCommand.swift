import ArgumentParser

struct FileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file",
        abstract: "Seal files: in place, or in the vault.",
        discussion: """
            In place, PATH becomes PATH.aplk, and is restored with permissions, time and extended attributes. Folders are locked with everything below them, links are not followed. The original is \
            removed only after the sealed copy was read back and compared.

              applocker file lock letters/ taxes.pdf
              applocker file unlock letters/ taxes.pdf

            In the vault, a file is a sealed copy that AppLocker keeps.

              applocker file add passport.jpg --remove-original
              applocker file list
              applocker file get passport.jpg -o /tmp/passport.jpg
            """,
        subcommands: [Lock.self, Unlock.self, Add.self, List.self, Get.self, Remove.self], defaultSubcommand: List.self)

    static let fileHelp = ArgumentHelp(
        "The file's id, the beginning of it, or a name that only one file has.", valueName: "file")
}
