"""What the pages of a browser showed for some seconds, however late it is read."""

# For `add_init_script`.
REMEMBER_TOASTS = """addEventListener("DOMContentLoaded", () => {
    window.toasts = [];
    new MutationObserver((changes) => {
        for (const { addedNodes } of changes) window.toasts.push(...[...addedNodes].map((one) => one.textContent));
    }).observe(document.getElementById("toasts"), { childList: true });
});"""


def shown_toasts(phone):
    """The sentences since the page was loaded."""
    return phone.page.evaluate("() => window.toasts")
