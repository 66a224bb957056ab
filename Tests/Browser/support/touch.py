"""A finger on the screen, as the page receives it."""

FINGER = """([selector, path]) => {
    const [start, ...rest] = path;
    const node = document.querySelector(selector);
    // There is no finger to capture.
    node.setPointerCapture = () => {};
    const send = (kind, [clientX, clientY]) => node.dispatchEvent(new PointerEvent(kind, {
        pointerId: 7, pointerType: "touch", isPrimary: true, bubbles: true, cancelable: true, clientX, clientY }));
    send("pointerdown", start);
    for (const point of rest) send("pointermove", point);
    send("pointerup", rest.at(-1) ?? start);
}"""


def finger(page, selector, *path):
    """Moves a finger over the points; a single one is a tap."""
    page.evaluate(FINGER, [selector, [list(point) for point in path]])
