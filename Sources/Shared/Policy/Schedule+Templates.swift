extension Schedule {
    /// A ready-made schedule that can be chosen by name.
    public struct Template: Hashable, Sendable, Codable {
        /// Stable, lower case, with hyphens: "school-night".
        public let name: String
        /// What it does, as one sentence.
        public let summary: String
        public let schedule: Schedule
    }

    public static let templates: [Template] = [
        template("work-hours", "Locked on weekdays from 9 to 17.", .blockInside, "mon-fri 09:00-17:00"),
        template("school-hours", "Locked on weekdays from 8 to 15.", .blockInside, "mon-fri 08:00-15:00"),
        template(
            "school-night", "Locked from 20 to 7 on evenings before a school day.", .blockInside,
            "mon-thu,sun 20:00-07:00"),
        template("night", "Locked every night from 22 to 7.", .blockInside, "daily 22:00-07:00"),
        template("weekend", "Unlocked on Saturdays and Sundays only.", .allowOnlyInside, "sat,sun 00:00-24:00"),
        template("evening", "Unlocked every day from 18 to 21 only.", .allowOnlyInside, "daily 18:00-21:00"),
        template(
            "weekend-afternoon", "Unlocked on Saturdays and Sundays from 14 to 18 only.", .allowOnlyInside,
            "sat,sun 14:00-18:00"),
        template("lunch-break", "Unlocked on weekdays from 12 to 13 only.", .allowOnlyInside, "mon-fri 12:00-13:00"),
    ]

    public static func template(named name: String) -> Template? { templates.first { $0.name == name } }

    private static func template(_ name: String, _ summary: String, _ mode: Mode, _ text: String) -> Template {
        do {
            return Template(name: name, summary: summary, schedule: try Schedule(mode: mode, text: text))
        } catch {
            preconditionFailure("template \(name): \(error)")
        }
    }
}
