#!/usr/bin/python3
"""Writes AppLocker's man pages: pages.py DIRECTORY VERSION APPLOCKER APPLOCKER-HUB

applocker(1) and applocker-hub(8) are generated from the command line's own description (--experimental-dump-help), so
that no command is missing. The texts of the other programs are below."""

import json
import pathlib
import subprocess
import sys

DATE = "2026-11-21"

PROGRAMS = {
    ("applocker-gate", "8"): (
        "hold the launches of locked apps",
        "applocker-gate --socket PATH (--daemon-uid UID | --daemon-user-of PATH) [--daemon-executable PATH] "
        "[--known-apps PATH] [--overlay-guard PATH] [--weak] [--no-descriptor-store]",
        """The only reader of the kernel's permission events (fanotify(7)). It marks the programs of locked apps, holds
each launch of one, asks applockerd(8) and answers the kernel. It denies a launch if there is no daemon, no answer in
time, or if too many launches are held.

The unit applocker-gate.service, or "applocker up", starts it and holds a duplicate of its descriptor: killing the gate
unlocks nothing. Stopping it releases the descriptor: every locked app can then be started.""",
        [
            ("--socket PATH", "The socket for the daemon. Absolute, at most 107 bytes."),
            ("--daemon-uid UID", "The user id of the daemon."),
            ("--daemon-user-of PATH", "The daemon's user is the owner of this directory."),
            ("--daemon-executable PATH", "The only program that is accepted as the daemon."),
            (
                "--known-apps PATH",
                "The file with the apps of the last list, which are denied until a daemon has sent its list.",
            ),
            (
                "--overlay-guard PATH",
                "The map that applocker-overlay-guard(8) pinned. It need not exist.",
            ),
            (
                "--weak",
                "Watch processes although the kernel could hold launches: locked apps are stopped after they "
                "have started.",
            ),
            (
                "--no-descriptor-store",
                "Run without a duplicate of the descriptor elsewhere: if this process is "
                "killed, every locked app can be started.",
            ),
        ],
        "0 ended by a signal, 1 could not start or continue, 2 usage error.",
    ),
    ("applocker-overlay-guard", "8"): (
        "deny opening locked apps through overlay mounts of users",
        "applocker-overlay-guard attach | detach",
        """Attaches a BPF program to the kernel's security hook for opening files. It denies opening a locked file
through an overlay mount that was made in a user namespace: before Linux 6.5, the kernel sends no permission event for
the file below such a mount, so applocker-gate(8) can't hold the launch. The gate adds each file that it marks to the
program's map. The denial has no prompt and no entry in the activity log.

The program and its map are pinned in /sys/fs/bpf/applocker and stay in force without any process, also while the gate
is restarted. The unit applocker-overlay-guard.service attaches the program before the gate starts, and detaches it
once the gate was stopped for good.

It needs Linux 5.15, BTF (/sys/kernel/btf/vmlinux), and the BPF security module, which Debian 12 has by default. Where
"bpf" is not in /sys/kernel/security/lsm, add it to the list in the kernel's parameter lsm=.""",
        [
            ("attach", "Attach the program. One that is attached is replaced without a gap; its map is kept."),
            ("detach", "Detach the program. The map stays, for the gate that has it open."),
        ],
        "0 done, 1 the kernel can't or must not run the program, 2 usage error.",
    ),
    ("applockerd", "8"): (
        "decide which locked app may start",
        "applockerd --state DIR [--gate-socket PATH] [--hub ADDRESS | --no-hub]",
        """Keeps the list of locked apps, passcodes, grants, schedules, the sealed store and the activity log, answers
applocker-gate(8), and serves applocker(1) and applocker-prompt(1) on the socket control.sock of its state directory.
It is started by the unit applockerd.service, or by "applocker up".""",
        [
            ("--state DIR", "The state directory. Absolute; owned by the daemon's user, mode 0711 or less."),
            ("--gate-socket PATH", "The gate's socket; gate.sock in the state directory by default."),
            ("--hub ADDRESS", "The hub on this computer, to which the daemon connects once a passcode is set."),
            ("--no-hub", "No hub runs on this computer. A connection that the owner configured is kept."),
        ],
        "0 ended by a signal, 1 could not start or continue.",
    ),
    ("applocker-picture", "8"): (
        "decode a photo in a sandbox",
        "applocker-picture prepare|jpeg|rgb|png FORMAT ORIENTATION [NUMBER...]",
        """Reads one photo from standard input, which has to be a file, and writes smaller sizes of it to standard
output. applocker(1) starts it for each photo of a moment; people have no use for it. It opens no file, starts no
program and connects to nothing once it has begun, whatever the photo contains. HEIC and AVIF need the package
libheif1.""",
        [
            ("prepare", "The medium size and the thumbnail, as JPEGs."),
            ("jpeg", "The whole photo, as a JPEG."),
            ("rgb", "Its pixels within a width and a height."),
            ("png", "The same, as a PNG."),
        ],
        "0 done, 1 the photo can't be decoded; standard error has the reason in one word.",
    ),
    ("applocker-prompt", "1"): (
        "ask for the passcode in a window",
        "applocker-prompt [--socket PATH]",
        """Runs in a desktop session and shows a window that asks for the passcode when a user starts a locked app. It
only passes the passcode to applockerd(8). The package starts it at login
(/etc/xdg/autostart/applocker-prompt.desktop). In a terminal, "applocker prompt --tty" does the same.""",
        [("--socket PATH", "The control socket; by default the one that applocker(1) uses.")],
        "0 ended with the session, 1 could not start.",
    ),
    ("applocker-desktop", "1"): (
        "manage AppLocker in a window",
        "applocker-desktop [--socket PATH] [--gapplication-service] [FILE ...]",
        """Shows whether this computer is protected, and locks, unlocks and configures apps. The first start leads
through the set-up. It uses only the control socket of applockerd(8), and each change needs the owner's passcode, once
for some minutes. It runs once in each desktop session: a second start shows the window of the first.""",
        [
            ("FILE", "Asks whether to lock this file or folder, or to unlock it if its name ends in .aplk."),
            ("--socket PATH", "The control socket; by default the one that applocker(1) uses."),
            ("--gapplication-service", "Wait for the desktop to activate it over D-Bus."),
        ],
        "0 done, 1 could not start, 2 usage error.",
    ),
    ("applocker-agent", "1"): (
        "show AppLocker in a desktop session",
        "applocker-agent [--socket PATH]",
        """Shows the state of AppLocker as an icon in the tray, and denied launches and wrong passcodes as
notifications. It reports idle time to applockerd(8). Protection continues when it is closed. The package starts it at
login (/etc/xdg/autostart/applocker-agent.desktop).""",
        [("--socket PATH", "The control socket; by default the one that applocker(1) uses.")],
        "0 ended with the session, 1 could not start.",
    ),
}

FILES = [
    (
        "/var/lib/applocker/control.sock",
        "The control socket of the system's AppLocker. APPLOCKER_SOCKET names another.",
    ),
    ("/var/lib/applocker", "The daemon's state: database, sealed content, keys."),
    ("/usr/share/doc/applocker/operations.md", "Running AppLocker, and recovery by root."),
]
HUB_FILES = [
    ("/var/lib/applocker-hub", "The hub's state: records that the devices sealed."),
    (
        "/var/lib/applocker-hub/registration-token",
        "The secret with which invitations to found a household are made. A new one makes earlier invitations invalid.",
    ),
    ("/etc/default/applocker-hub", "HUB_OPTIONS=, the options with which the service starts the hub."),
    ("/usr/share/applocker/web", "The companion, which the hub serves."),
    ("/usr/share/doc/applocker-hub/operations.md", "Running the hub."),
]
SEE_ALSO = [
    ("applocker", "1"),
    ("applocker-agent", "1"),
    ("applocker-desktop", "1"),
    ("applocker-gate", "8"),
    ("applocker-hub", "8"),
    ("applocker-overlay-guard", "8"),
    ("applocker-picture", "8"),
    ("applocker-prompt", "1"),
    ("applockerd", "8"),
]


def escape(text):
    """Escapes troff's control characters, and a quote or a dot at the start of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def paragraphs(text):
    """Indented lines are examples and stay as they are; everything else is filled."""
    lines, is_example, out = (text or "").split("\n"), False, []
    for line in lines:
        if line.startswith("  ") != is_example and line.strip():
            is_example = not is_example
            out.append(".PP\n.RS\n.nf" if is_example else ".fi\n.RE\n.PP")
        if line.strip():
            out.append(escape(line[2:] if is_example else line))
        elif not is_example and out:
            out.append(".PP")
    if is_example:
        out.append(".fi\n.RE")
    while out and out[-1] == ".PP":
        out.pop()
    return "\n".join(out).replace(".PP\n.PP", ".PP")


def head(name, section, abstract, version):
    return (
        f'.TH {escape(name.upper())} {section} {DATE} "AppLocker {version}" "AppLocker"\n.SH NAME\n'
        f"{escape(name)} \\- {escape(abstract)}"
    )


def tail(name, section, paths=FILES):
    others = [f".BR {escape(n)} ({s})" for n, s in SEE_ALSO if (n, s) != (name, section)]
    files = "\n".join(f".TP\n.I {escape(path)}\n{escape(what)}" for path, what in paths)
    return ".SH FILES\n" + files + "\n.SH SEE ALSO\n" + " ,\n".join(others)


def spelt(argument):
    """An option as it is typed: -n, --name VALUE."""
    value = (argument.get("valueName") or "value").upper()
    if argument["kind"] == "positional":
        text = f"{value}" + ("..." if argument["isRepeating"] else "")
        return f"[{text}]" if argument["isOptional"] else text
    names = [("--" if n["kind"] == "long" else "-") + n["name"] for n in argument["names"]]
    return ", ".join(names) + (f" {value}" if argument["kind"] == "option" else "")


def shown(command):
    return [
        a for a in command.get("arguments", []) if a["shouldDisplay"] and a.get("valueName") not in ("help", "version")
    ]


def options(arguments):
    out = []
    for a in arguments:
        default = f" Default: {a['defaultValue']}." if a.get("defaultValue") else ""
        words = " ".join(filter(None, [a.get("abstract"), a.get("discussion")])).replace("\n", " ")
        out.append(f".TP\n.B {escape(spelt(a))}\n{escape(words + default) or '(no description)'}")
    return "\n".join(out)


def commands(command, path, out):
    for sub in command.get("subcommands", []):
        if not sub["shouldDisplay"] or sub["commandName"] == "help":
            continue
        name = path + [sub["commandName"]]
        arguments = shown(sub)
        positional = " ".join(spelt(a) for a in arguments if a["kind"] == "positional")
        has_options = any(a["kind"] != "positional" for a in arguments)
        below = [s for s in sub.get("subcommands", []) if s["shouldDisplay"]]
        line = " ".join(name) + (" COMMAND" if below else "") + (" [OPTIONS]" if has_options else "")
        out.append(f'.SS "{escape((line + " " + positional).strip())}"')
        out.append(escape(sub.get("abstract") or ""))
        if sub.get("discussion"):
            out.append(".PP\n" + paragraphs(sub["discussion"]))
        if arguments:
            out.append(options(arguments))
        commands(sub, name, out)


def command_line(version, program):
    dump = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    root = json.loads(dump)["command"]
    out = [
        head("applocker", "1", root["abstract"].rstrip("."), version),
        ".SH SYNOPSIS\n.B applocker\n.I COMMAND\n.RI [ OPTIONS ]\n.br\n.B applocker \\-\\-version\n.br\n"
        ".B applocker help\n.RI [ COMMAND ]",
        ".SH DESCRIPTION\n" + paragraphs(root.get("discussion") or root["abstract"]),
        ".SH COMMANDS",
    ]
    commands(root, ["applocker"], out)
    out.append(".SH EXIT STATUS\n0 done, 1 refused, 2 usage error, 3 AppLocker is not running, 4 no such app.")
    out.append(".SH ENVIRONMENT\n.TP\n.B APPLOCKER_SOCKET\nThe control socket, if \\-\\-socket does not name one.")
    out.append(tail("applocker", "1"))
    return "\n".join(out) + "\n"


def hub_page(version, program):
    dump = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    root = json.loads(dump)["command"]
    out = [
        head("applocker-hub", "8", root["abstract"].rstrip("."), version),
        ".SH SYNOPSIS\n.B applocker\\-hub\n.RI [ OPTIONS ]\n.br\n.B applocker\\-hub invite\n.RI [ OPTIONS ]",
        ".SH DESCRIPTION\n" + paragraphs(root.get("discussion") or root["abstract"]),
        ".SH OPTIONS\n" + options(shown(root)),
        ".SH COMMANDS",
    ]
    commands(root, ["applocker-hub"], out)
    out += [
        ".SH EXIT STATUS\n0 ended by a signal, or invited; 1 could not start or continue, 64 usage error.",
        tail("applocker-hub", "8", HUB_FILES),
    ]
    return "\n".join(out) + "\n"


def program_page(name, section, version):
    abstract, synopsis, description, arguments, status = PROGRAMS[name, section]
    out = [
        head(name, section, abstract, version),
        ".SH SYNOPSIS\n.nf\n" + escape(synopsis).replace(name, name) + "\n.fi",
        ".SH DESCRIPTION\n" + paragraphs(description),
        ".SH OPTIONS",
    ]
    out += [f".TP\n.B {escape(option)}\n{escape(words)}" for option, words in arguments]
    out += [".SH EXIT STATUS\n" + escape(status), tail(name, section)]
    return "\n".join(out) + "\n"


def main():
    directory, version, program, hub = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    pages = {("applocker", "1"): command_line(version, program), ("applocker-hub", "8"): hub_page(version, hub)}
    pages |= {(name, section): program_page(name, section, version) for name, section in PROGRAMS}
    for (name, section), text in pages.items():
        (directory / f"man{section}").mkdir(parents=True, exist_ok=True)
        (directory / f"man{section}" / f"{name}.{section}").write_text(text)


if __name__ == "__main__":
    main()
