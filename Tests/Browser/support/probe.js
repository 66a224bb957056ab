// The page of the tests without a network: the parts of the app that they ask.
import * as app from "/workers/registration.js";

window.app = app;
window.said = [];
for (const kind of ["ready", "failed"]) {
    app.updates.addEventListener(kind, (event) => window.said.push([kind, /** @type {CustomEvent} */ (event).detail]));
}
window.started = app.startOffline();
