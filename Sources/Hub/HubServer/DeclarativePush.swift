import Foundation
import HubAPI

/// A declarative push message (W3C Push API, "Declarative push message"): a browser that supports it shows the fallback
/// if no worker replaces it, and keeps the subscription even if a message shows nothing.
struct DeclarativePush {
    let bytes: Data

    /// - Parameter payload: as a device sent it; it becomes the notification's data.
    /// - Returns: nil if the payload isn't JSON, or too long with what is around it.
    init?(_ fallback: PushFallback, payload: Data) {
        guard (try? JSONSerialization.jsonObject(with: payload, options: .fragmentsAllowed)) != nil,
            let notification = try? JSONEncoder().encode(fallback)
        else { return nil }
        bytes =
            Data(#"{"web_push":8030,"mutable":true,"notification":"#.utf8) + notification.dropLast()
            + Data(#","data":"#.utf8) + payload + Data("}}".utf8)
        guard bytes.count <= PushSender.paddedDeclarativeLength else { return nil }
    }
}
