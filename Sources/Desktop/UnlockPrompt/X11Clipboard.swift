import CGtk4
import Foundation

/// The CLIPBOARD selection of an X server (Inter-Client Communication Conventions Manual, section 2). Implemented with
/// Xlib, because GTK can't offer a target without a slash in its name.
final class X11Clipboard {
    /// Klipper and compatible managers neither store nor show a selection that has this target with the value "secret".
    private static let hint = "x-kde-passwordManagerHint"
    // X.h and Xatom.h write these as casts, which Swift does not import.
    private static let atom: Atom = 4
    private static let integer: Atom = 19

    private let display: OpaquePointer
    private let window: Window
    private let clipboard: Atom
    private let targets: Atom
    private let timestamp: Atom
    private var acquired: Time = 0
    /// Target → the reply to it.
    private let answers: [(target: Atom, bytes: [UInt8])]

    /// - Throws: `ClipboardFailure` if there is no such display.
    init(display name: String, text: [UInt8]) throws(ClipboardFailure) {
        guard let display = XOpenDisplay(name) else {
            throw ClipboardFailure(description: "there is no desktop clipboard.")
        }
        // If a requestor has ended meanwhile, an error is reported later, which can be ignored.
        XSetErrorHandler { _, _ in 0 }
        func intern(_ name: String) -> Atom { XInternAtom(display, name, 0) }
        self.display = display
        window = XCreateSimpleWindow(display, XDefaultRootWindow(display), -10, -10, 1, 1, 0, 0, 0)
        clipboard = intern("CLIPBOARD")
        targets = intern("TARGETS")
        timestamp = intern("TIMESTAMP")
        answers =
            ["UTF8_STRING", "text/plain;charset=utf-8", "text/plain", "TEXT", "STRING"].map { (intern($0), text) }
            + [(intern(Self.hint), Array("secret".utf8))]
    }

    /// Blocks until the time is over or another program owns the clipboard.
    func hold(seconds: Int) throws(ClipboardFailure) {
        acquired = serverTime()
        XSetSelectionOwner(display, clipboard, window, acquired)
        guard XGetSelectionOwner(display, clipboard) == window else {
            throw ClipboardFailure(description: "the clipboard can't be taken over.")
        }
        XFlush(display)
        ClipboardHolder.reportReady()
        let end = ContinuousClock.now + .seconds(seconds)
        var isOwner = true
        while isOwner, let event = next(before: end) {
            switch event.type {
            case SelectionRequest: answer(event.xselectionrequest)
            case SelectionClear: isOwner = event.xselectionclear.selection != clipboard
            default: break
            }
        }
        // The server releases the selection with its window.
        XCloseDisplay(display)
    }

    /// The server's clock, which it adds to the change of a property. Selection ownership needs this time.
    private func serverTime() -> Time {
        XSelectInput(display, window, Int(PropertyChangeMask))
        XChangeProperty(display, window, timestamp, Self.integer, 32, PropModeAppend, nil, 0)
        var event = XEvent()
        XWindowEvent(display, window, Int(PropertyChangeMask), &event)
        XSelectInput(display, window, 0)
        return event.xproperty.time
    }

    /// Nil when the time is over.
    private func next(before end: ContinuousClock.Instant) -> XEvent? {
        var left = ContinuousClock.now.duration(to: end)
        while XPending(display) == 0, left > .zero {
            var descriptor = pollfd(fd: XConnectionNumber(display), events: Int16(POLLIN), revents: 0)
            _ = poll(&descriptor, 1, Int32(clamping: Int64(left / .milliseconds(1)) + 1))
            left = ContinuousClock.now.duration(to: end)
        }
        guard left > .zero else { return nil }
        var event = XEvent()
        XNextEvent(display, &event)
        return event
    }

    private func answer(_ request: XSelectionRequestEvent) {
        // Clients from before X11R4 specify no property.
        let property = request.property == 0 ? request.target : request.property
        var reply = XEvent()
        reply.xselection.type = SelectionNotify
        reply.xselection.requestor = request.requestor
        reply.xselection.selection = request.selection
        reply.xselection.target = request.target
        reply.xselection.time = request.time
        reply.xselection.property = send(request.target, to: request.requestor, property) ? property : 0
        XSendEvent(display, request.requestor, 0, 0, &reply)
        XFlush(display)
    }

    private func send(_ target: Atom, to requestor: Window, _ property: Atom) -> Bool {
        if target == targets {
            put([targets, timestamp] + answers.map(\.target), type: Self.atom, on: requestor, property)
        } else if target == timestamp {
            put([acquired], type: Self.integer, on: requestor, property)
        } else if let answer = answers.first(where: { $0.target == target }) {
            XChangeProperty(
                display, requestor, property, target, 8, PropModeReplace, answer.bytes, Int32(answer.bytes.count))
        } else {
            return false
        }
        return true
    }

    /// Xlib expects 32-bit items as an array of long.
    private func put(_ items: [UInt], type: Atom, on requestor: Window, _ property: Atom) {
        items.withUnsafeBytes { bytes in
            _ = XChangeProperty(
                display, requestor, property, type, 32, PropModeReplace,
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(items.count))
        }
    }
}
