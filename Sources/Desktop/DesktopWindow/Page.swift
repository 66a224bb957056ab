import GtkSupport

/// A page of the window.
@MainActor
protocol Page: AnyObject {
    var widget: Widget { get }
    /// What Ctrl+F moves to; nil: the page has no search.
    var search: Widget? { get }

    /// The page became visible.
    func open() async
    /// Another page becomes visible.
    func leave()
    /// Called every few seconds while the page is visible. Pages of the vault read nothing then: that is a use of it, and
    /// it would never lock itself.
    func refresh() async
    /// Leaves what is opened within the page.
    ///
    /// - Returns: whether there was something.
    func goBack() -> Bool
}

extension Page {
    var search: Widget? { nil }
    func open() async {}
    func leave() {}
    func refresh() async {}
    func goBack() -> Bool { false }
}
