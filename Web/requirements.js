// Explains why AppLocker can't run at this address or in this browser. The page's only script that is no module, in
// the syntax of 2009: it runs where the modules don't.
(function () {
    /** @param {string} tag @param {string} text @param {string} [name] of its class */
    function part(tag, text, name) {
        var node = document.createElement(tag);
        node.textContent = text;
        if (name) node.className = name;
        return node;
    }

    /**
     * Shows one page instead of the app, whose start sees the mark. An app that runs already stays.
     * @param {string} title @param {string} text @param {string[]} steps without any, a button to reload the page
     */
    function refuse(title, text, steps) {
        var root = document.getElementById("app");
        if (!root || root.firstChild) return;
        document.documentElement.setAttribute("data-refused", "");
        document.title = title;
        var page = part("main", "", "entry-page");
        var heading = part("h1", title, "entry-page-title");
        heading.tabIndex = -1;
        page.appendChild(heading);
        page.appendChild(part("p", text, "soft"));
        var rest = steps.length > 0 ? part("ol", "", "card refusal-steps") : part("button", "Try again", "button");
        for (var index = 0; index < steps.length; index += 1) rest.appendChild(part("li", steps[index]));
        if (steps.length === 0) rest.onclick = function () { location.reload(); };
        page.appendChild(rest);
        root.appendChild(page);
        heading.focus();
    }

    /** @param {string} name @returns {boolean} whether the page may use this storage: reading it can throw */
    function hasStorage(name) {
        try {
            return Boolean(/** @type {any} */ (window)[name]);
        } catch (error) {
            return false;
        }
    }

    /** What this browser lacks. */
    function missing() {
        var found = [];
        if (!("noModule" in document.createElement("script"))) found.push("JavaScript modules");
        if (!window.crypto || !crypto.subtle) found.push("encryption (WebCrypto)");
        if (!hasStorage("indexedDB")) found.push("a database (IndexedDB)");
        if (!hasStorage("localStorage")) found.push("storage for this site (localStorage)");
        if (!window.BroadcastChannel || !navigator.locks) found.push("messages between tabs (Web Locks)");
        return found;
    }

    var update = "Update this browser, or open this address in another one.";
    var lacks = missing();
    if (window.isSecureContext === false) {
        refuse("This address is not secure",
            "Browsers allow the encryption that this app needs only at addresses that begin with https://. "
                + "Nothing can be paired here.",
            ["On the computer, run “applocker pair”. It shows the ways to reach it from this device.",
                "Open the https:// address that it shows."]);
    } else if (lacks.length > 0) {
        refuse("This browser can’t run this app", "It lacks or blocks: " + lacks.join(", ") + ".",
            ["If this is a private window, open the address in an ordinary one.",
                "Allow this site to store data, if you blocked it.", update]);
    }
    // A module that this browser can't read ends the app before its first line.
    window.addEventListener("error", function (event) {
        if (event.error instanceof SyntaxError) {
            refuse("This browser is too old for this app", "It doesn’t understand the app’s JavaScript.", [update]);
        } else if (event.target instanceof HTMLScriptElement) {
            refuse("This app could not be loaded", "The hub did not send all of it. Check the connection.", []);
        }
    }, true);
}());
