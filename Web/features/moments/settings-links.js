// Links from Everline's settings to export, import and reset.
import { row, rows, section, tile } from "../../ui/parts.js";

export const fileLinks = () => section("Photos and backups", [rows(
    row({
        start: tile("plus"), title: "Import photos", note: "Older photos, one moment per day",
        href: "#/settings/everline/import",
    }),
    row({
        start: tile("share"), title: "Export", note: "Unsealed, for other programs",
        href: "#/settings/everline/export",
    }),
    row({
        start: tile("shield"), title: "Backup of Everline", note: "Export or import one file with a passphrase",
        href: "#/settings/everline/copy",
    }),
    row({
        start: tile("trash", "danger"), title: "Reset Everline", note: "Erases every moment and photo",
        href: "#/settings/everline/reset",
    }))]);
