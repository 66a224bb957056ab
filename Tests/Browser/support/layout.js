// Returns what is wrong with the layout of the shown page, as sentences that name an element. Runs in the page at each
// size of a walk: see test_every_screen.py.
(() => {
    const isForced = matchMedia("(forced-colors: active)").matches;
    const found = new Set();
    const [width, height] = [innerWidth, innerHeight];
    const isLarge = width / parseFloat(getComputedStyle(document.documentElement).fontSize) < 20;
    const root = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
    const labels = "button, summary, .tab, .badge, .toast, h1, h2, h3, legend, th";
    const places = ".card, dialog, .toast, .tabs, .settings-page, .screen, .entry-page";
    const targets = "a[href], button, input, select, textarea, summary, [role=button], [role=switch], [role=tab]";

    const nameOf = (element) => {
        const classes = typeof element.className === "string" && element.className.split(" ").filter(Boolean).join(".");
        const text = (element.getAttribute("aria-label") ?? element.textContent).trim().slice(0, 40);
        return `${element.localName}${classes ? `.${classes}` : ""} "${text}"`;
    };
    const report = (kind, element, more = "") => found.add(`${kind}: ${nameOf(element)}${more && `, ${more}`}`);
    const styles = new Map();
    const styleOf = (element) => {
        if (!styles.has(element)) styles.set(element, getComputedStyle(element));
        return styles.get(element);
    };
    const isHidden = (element) => !element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })
        || element.closest(".visually-hidden, .skip:not(:focus), svg") || styleOf(element).clipPath === "inset(50%)";
    const ancestors = function* (element) {
        for (let one = element; one && one !== document.documentElement; one = one.parentElement) yield one;
    };
    /** What scrolls, or is in front of the rest: only elements of one layer can overlap by mistake. */
    const layerOf = (element) => [...ancestors(element)].find((one) =>
        ["fixed", "sticky"].includes(styleOf(one).position) || one.localName === "dialog") ?? document.body;
    const scrolls = (value) => value === "auto" || value === "scroll";
    const cuts = (value) => value === "hidden" || value === "clip";

    /** The visible part of a box, and the first ancestor that cuts it without scrolling. */
    const visiblePart = (element, box, isText = true) => {
        const part = { left: box.left, top: box.top, right: box.right, bottom: box.bottom };
        let cut = null;
        let [freeX, freeY] = [false, false];
        for (const one of ancestors(element)) {
            const { overflowX, overflowY, position } = styleOf(one);
            const edge = one.getBoundingClientRect();
            if (cuts(overflowX) && !freeX && (edge.left > part.left + 1.5 || edge.right < part.right - 1.5)) cut ??= one;
            if (cuts(overflowY) && !freeY && isText && (edge.top > part.top + 4 || edge.bottom < part.bottom - 4)) {
                cut ??= one;
            }
            if (overflowX !== "visible" && one !== document.body) {
                part.left = Math.max(part.left, edge.left);
                part.right = Math.min(part.right, edge.right);
            }
            if (overflowY !== "visible" && one !== document.body) {
                part.top = Math.max(part.top, edge.top);
                part.bottom = Math.min(part.bottom, edge.bottom);
            }
            freeX ||= scrolls(overflowX);
            freeY ||= scrolls(overflowY);
            if (position === "fixed") break;
        }
        return { part, cut, freeX };
    };
    const isShortened = (element) => styleOf(element).textOverflow === "ellipsis"
        || styleOf(element).webkitLineClamp !== "none";
    /** Cards of the timeline have heights that are computed without drawing; they link to the whole text. */
    const isPreview = (element) => element.closest(".moment-card, .moment-memory, .map-plot, .calculator-display");

    if (document.scrollingElement.scrollWidth > width) {
        found.add(`the page is ${document.scrollingElement.scrollWidth} px wide`);
    }

    // Texts
    const lines = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (walker.nextNode()) {
        const node = walker.currentNode;
        const element = node.parentElement;
        const text = node.data.trim();
        if (!text || !element || isHidden(element) || element.closest("textarea, select, option")) continue;
        range.selectNodeContents(node);
        const boxes = [...range.getClientRects()].filter((box) => box.width > 0.5);
        let isCut = false;
        for (const box of boxes) {
            const { part, cut, freeX } = visiblePart(element, box);
            if (cut && !isPreview(element) && !isCut) {
                isCut = true;
                const shortened = [...ancestors(element)].find((one) => one === cut || isShortened(one));
                if (!isShortened(shortened)) report("cut text", element, `by ${nameOf(cut)}`);
                else if (isLarge && text.length <= 60) report("shortened text", element);
            }
            if (!freeX && !isPreview(element) && (box.left < -1 || box.right > width + 1)) {
                report("text outside", element);
            }
            if (part.right - part.left > 1 && part.bottom - part.top > 1) lines.push({ element, part });
        }
        const tops = new Set(boxes.map(({ top }) => Math.round(top)));
        if (tops.size === 1 && styleOf(element).direction === "rtl" && element.closest(".row, .launch")
            && boxes[0].left > element.getBoundingClientRect().left + 2) report("name apart from its icon", element);
        if (tops.size < 2) continue;
        const place = element.closest(places) ?? document.body;
        const most = place.clientWidth * (element.closest(labels) ? 0.75 : 0.5);
        for (const { 0: word, index } of node.data.matchAll(/[\p{sc=Latin}\p{sc=Arabic}\p{N}]{2,}/gu)) {
            // An address, a path or a hash may break anywhere.
            if (/[./:=?_-]/.test(node.data[index - 1] ?? "") || /^[./:=?_-]\w/.test(node.data.slice(index + word.length))) {
                continue;
            }
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            const pieces = [...range.getClientRects()].filter((box) => box.width > 0.5);
            const long = pieces.reduce((sum, box) => sum + box.width, 0);
            if (new Set(pieces.map(({ top }) => Math.round(top))).size > 1 && long < most) {
                report("broken word", element, `${word} in ${nameOf(place).slice(0, 30)}`);
            }
        }
    }
    for (const [index, one] of lines.entries()) {
        for (const other of lines.slice(index + 1)) {
            const across = Math.min(one.part.right, other.part.right) - Math.max(one.part.left, other.part.left);
            const down = Math.min(one.part.bottom, other.part.bottom) - Math.max(one.part.top, other.part.top);
            if (across < 3 || down < 0.4 * Math.min(one.part.bottom - one.part.top, other.part.bottom - other.part.top)
                || one.element === other.element || one.element.closest("svg, .map-plot")
                || layerOf(one.element) !== layerOf(other.element)) continue;
            report("overlapping text", one.element, `and ${nameOf(other.element)}`);
        }
    }

    // Boxes
    const outside = new Set();
    for (const element of root.querySelectorAll("*")) {
        if (isHidden(element)) continue;
        const box = element.getBoundingClientRect();
        if (box.width === 0 || box.height === 0) continue;
        const { position, display } = styleOf(element);
        const { part, freeX } = visiblePart(element, box, false);
        if (!freeX && part.right - part.left > 1 && (part.left < -1 || part.right > width + 1)) {
            outside.add(element);
            if (!outside.has(element.parentElement)) report("outside", element, `${Math.round(part.left)} to ${Math.round(part.right)} px`);
        }
        if (position === "fixed" && (box.top < -1 || box.bottom > height + 1)) report("outside", element);
        if (!element.matches(targets) || element.matches("[tabindex='-1'][aria-hidden=true]")) continue;
        if (element.localName === "a" && display === "inline") continue;
        const area = (element.closest("label") ?? element).getBoundingClientRect();
        if (Math.min(area.width, area.height) < 43.5) {
            report("small target", element, `${Math.round(area.width)}×${Math.round(area.height)} px`);
        }
        if (/^(date|time|datetime-local)$/.test(element.type)) {
            const before = element.style.width;
            element.style.width = "max-content";
            const wanted = element.offsetWidth;
            element.style.width = before;
            if (wanted > box.width + 1) report("cut value", element, `${wanted} px in ${Math.round(box.width)}`);
        }
        if (isForced && element.localName === "button" && !element.matches(".row, .row *, .moment-slide-open")
            && parseFloat(styleOf(element).borderTopWidth) < 1) report("no border", element);
    }
    // The whole page
    const screen = root.querySelector(".frame > .screen");
    if (screen && width >= 896 && height > 480) {
        const edge = parseFloat(styleOf(screen.parentElement).paddingLeft);
        if (Math.abs(screen.getBoundingClientRect().left - edge) > 1) report("another left edge", screen);
    }
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
        for (const { effect } of document.getAnimations()) {
            if (effect.getComputedTiming().duration > 1) report("moves", effect.target);
        }
    }
    if (matchMedia("(prefers-contrast: more)").matches) {
        for (const card of root.querySelectorAll(".card, .sheet, .banner")) {
            if (!isHidden(card) && parseFloat(styleOf(card).borderTopWidth) < 1) report("no border", card);
        }
    }
    return [...found];
})
