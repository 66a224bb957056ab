extension Essential {
    /// What a program of this name is, if it is in a directory of the system.
    static func code(forName name: String) -> Refusal.Code? {
        if let code = names[name] { return code }
        if CommandTarget.shells.contains(name) { return .shell }
        if Interpreter.named(name) != nil { return .interpreter }
        if isLoader(name) { return .loader }
        for (prefix, code) in prefixes where name.hasPrefix(prefix) { return code }
        return nil
    }

    /// Whether a file of this name is a dynamic loader, of the system or of an app: ld.so(8).
    static func isLoader(_ name: String) -> Bool {
        name.hasPrefix("ld-linux") || name.hasPrefix("ld-musl") || name.hasPrefix("ld.so")
            || (name.hasPrefix("ld-") && name.hasSuffix(".so"))
    }

    /// The parts of the system that are recognised by where they are.
    static func code(forDirectoryOf path: String) -> Refusal.Code? {
        for (directory, code) in directories where HostFiles.isInside(path, directory) { return code }
        return nil
    }

    private static let directories: [(String, Refusal.Code)] = [
        ("/usr/lib/systemd", .system), ("/usr/local/lib/systemd", .system), ("/usr/lib/udev", .system),
        ("/usr/lib/init", .initProcess), ("/usr/lib/polkit-1", .privilege), ("/usr/lib/policykit-1", .privilege),
        ("/usr/lib/dbus-1.0", .messageBus), ("/usr/lib/xorg", .displayServer), ("/usr/lib/apt", .system),
        ("/usr/lib/dpkg", .system), ("/usr/lib/openssh", .system), ("/usr/lib/snapd", .starter),
        ("/usr/lib/gdm3", .displayManager), ("/usr/lib/lightdm", .displayManager), ("/usr/lib/sddm", .displayManager),
        ("/usr/lib/gnome-session", .desktop), ("/usr/lib/gnome-shell", .desktop), ("/usr/lib/xfce4", .desktop),
        ("/usr/lib/modules", .system), ("/usr/lib/cryptsetup", .system), ("/usr/lib/NetworkManager", .system),
        ("/lib/systemd", .system), ("/lib/udev", .system), ("/boot", .system),
    ]

    private static let prefixes: [(String, Refusal.Code)] = [
        ("systemd", .system), ("gdm-", .displayManager), ("startplasma", .desktop), ("kwin", .desktop),
        ("plasma_", .desktop), ("gsd-", .desktop), ("gnome-session", .desktop), ("xdg-desktop-portal", .desktop),
        ("polkit-", .privilege), ("cosmic-comp", .desktop), ("cosmic-session", .desktop), ("dbus-", .messageBus),
        ("lightdm-", .displayManager), ("flatpak-", .starter), ("snap-", .starter), ("at-spi", .desktop),
    ]

    /// Packages all of whose programs are needed, beside those that Debian itself marks as required.
    static let systemPackages: [String: Refusal.Code] = [
        "libc6": .loader, "init": .initProcess, "systemd-sysv": .initProcess, "sysvinit-core": .initProcess,
        "systemd": .system, "udev": .system, "systemd-timesyncd": .system, "libpam-systemd": .system,
        "kmod": .system, "procps": .system, "psmisc": .system, "iproute2": .system, "ifupdown": .system,
        "network-manager": .system, "wpasupplicant": .system, "isc-dhcp-client": .system, "openssh-server": .system,
        "cron": .system, "rsyslog": .system, "cryptsetup-bin": .system, "lvm2": .system, "dmsetup": .system,
        "mdadm": .system, "initramfs-tools-core": .system, "grub-common": .system, "grub2-common": .system,
        "sudo": .privilege, "polkitd": .privilege, "pkexec": .privilege, "policykit-1": .privilege,
        "dbus": .messageBus, "dbus-daemon": .messageBus, "dbus-bin": .messageBus, "dbus-x11": .messageBus,
        "dbus-broker": .messageBus, "xserver-xorg-core": .displayServer, "xserver-xorg-legacy": .displayServer,
        "xwayland": .displayServer, "xinit": .displayServer, "weston": .desktop, "gnome-shell": .desktop,
        "gnome-session-bin": .desktop, "gnome-settings-daemon": .desktop, "mutter": .desktop,
        "plasma-workspace": .desktop, "xfce4-session": .desktop, "gdm3": .displayManager, "lightdm": .displayManager,
        "sddm": .displayManager, "xdg-utils": .starter, "flatpak": .starter, "snapd": .starter, "bubblewrap": .starter,
    ]

    private static let names: [String: Refusal.Code] = {
        let groups: [(Refusal.Code, String)] = [
            (.initProcess, "init systemd sysvinit openrc openrc-init runit runit-init s6-svscan telinit"),
            (
                .privilege,
                """
                sudo sudoedit visudo su login doas pkexec pkttyagent polkitd runuser sulogin newgrp passwd chpasswd \
                agetty getty unix_chkpwd gksu gksudo kdesu kdesudo lxqt-sudo lxpolkit lxqt-policykit-agent \
                xfce-polkit mate-polkit polkit-kde-authentication-agent-1
                """
            ),
            (.messageBus, "dbus-daemon dbus-broker dbus-broker-launch dbus-launch dbus-run-session busctl"),
            (
                .displayServer,
                "X Xorg Xwayland Xvfb Xephyr Xnest Xvnc Xtigervnc Xorg.wrap xinit startx xauth xvfb-run"
            ),
            (
                .desktop,
                """
                gnome-shell mutter plasmashell ksmserver ksplashqml kded5 kded6 kglobalaccel5 xfce4-session xfwm4 \
                xfdesktop xfce4-panel xfsettingsd xfconfd cinnamon cinnamon-session cinnamon-launcher muffin \
                mate-session marco mate-panel mate-settings-daemon lxsession lxqt-session lxqt-panel lxpanel openbox \
                openbox-session fluxbox startfluxbox blackbox icewm icewm-session i3 i3bar sway swaybar swaylock \
                hyprland Hyprland weston weston-launch labwc wayfire river niri dwm awesome bspwm sxhkd \
                herbstluftwm xmonad qtile enlightenment enlightenment_start budgie-wm budgie-panel budgie-desktop \
                metacity compiz twm fvwm fvwm2 fvwm3 jwm gala wingpanel io.elementary.wingpanel cage phosh phoc \
                x-window-manager x-session-manager pipewire pipewire-pulse wireplumber pulseaudio ibus-daemon fcitx \
                fcitx5 gnome-keyring-daemon gcr-prompter light-locker xscreensaver i3lock gnome-screensaver
                """
            ),
            (
                .displayManager,
                "gdm gdm3 lightdm sddm sddm-helper sddm-greeter xdm lxdm slim ly greetd tuigreet nodm wdm"
            ),
            (
                .starter,
                """
                env bwrap flatpak snap snapd snapctl xdg-open xdg-email xdg-mime xdg-settings xdg-terminal \
                xdg-terminal-exec gtk-launch gtk4-launch gio gio-launch-desktop gapplication exo-open kde-open \
                kde-open5 kioclient kioclient5 gnome-open kstart5 uwsm firejail fusermount fusermount3 \
                xdg-dbus-proxy appimaged appimagelauncherd AppImageLauncher ail-cli appimage-run nohup setsid nice \
                ionice timeout time xargs stdbuf
                """
            ),
            (
                .system,
                """
                systemctl journalctl loginctl udevadm modprobe insmod sshd NetworkManager nmcli wpa_supplicant \
                dhclient ip mount umount fsck apt apt-get dpkg
                """
            ),
        ]
        var table: [String: Refusal.Code] = [:]
        for (code, list) in groups {
            for name in list.split(separator: " ") { table[String(name)] = code }
        }
        return table
    }()
}
