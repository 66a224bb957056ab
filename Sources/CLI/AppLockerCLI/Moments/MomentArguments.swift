import ArgumentParser
import ControlAPI
import MomentTransfer
import Pictures
import SealedFormats

/// A date on the command line: "2024-05-17", "2024-05-17 18:30", "2024-05-17T18:30:05+02:00". A day alone means its
/// noon.
struct DateArgument: ExpressibleByArgument, Equatable {
    let time: MomentTime

    init?(argument: String) {
        var rest = Substring(argument)
        guard let day = LocalDay(rest.prefix(10)) else { return nil }
        rest = rest.dropFirst(10)
        var clock = [12, 0, 0]
        var offset: Int?
        if !rest.isEmpty {
            guard rest.first == " " || rest.first == "T" else { return nil }
            rest = rest.dropFirst()
            let zone = rest.lastIndex { $0 == "+" || $0 == "-" || $0 == "Z" }
            if let zone {
                guard let found = Self.zone(rest[zone...]) else { return nil }
                offset = found
                rest = rest[..<zone]
            }
            let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { $0.utf8.count == 2 ? Int($0) : nil }
            guard 2...3 ~= parts.count, numbers.count == parts.count, numbers[0] < 24,
                numbers.allSatisfy({ 0...59 ~= $0 })
            else { return nil }
            clock = numbers + (numbers.count == 2 ? [0] : [])
        }
        time = MomentTime(
            .init(
                year: day.year, month: day.month, day: day.day, hour: clock[0], minute: clock[1], second: clock[2]),
            offset: offset)
    }

    private static func zone(_ text: Substring) -> Int? {
        if text == "Z" { return 0 }
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = UInt8(parts[0]),
            let minutes = UInt8(parts[1]), minutes < 60, Int(hours) * 60 + Int(minutes) <= 1_080
        else { return nil }
        let offset = Int(hours) * 60 + Int(minutes)
        return text.first == "-" ? -offset : offset
    }
}

/// A place on the command line: "Zürich", "Zürich@47.3769,8.5417", "@47.3769,8.5417".
struct PlaceArgument: ExpressibleByArgument, Equatable {
    let place: MomentPlace

    init?(argument: String) {
        guard let at = argument.lastIndex(of: "@") else {
            guard !argument.isEmpty else { return nil }
            place = MomentPlace(name: argument)
            return
        }
        let name = String(argument[..<at])
        let numbers = argument[argument.index(after: at)...].split(separator: ",", omittingEmptySubsequences: false)
            .map { Double($0) }
        guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1], abs(latitude) <= 90,
            abs(longitude) <= 180
        else { return nil }
        place = MomentPlace(name: name.isEmpty ? nil : name, latitude: latitude, longitude: longitude)
    }
}

/// A day on the command line: "2024-05-17".
struct DayArgument: ExpressibleByArgument, Equatable {
    let day: LocalDay

    init?(argument: String) {
        guard let day = LocalDay(argument) else { return nil }
        self.day = day
    }
}
