// The page of the offline tests, with the parts of the app that they use.
import * as app from "/workers/registration.js";

window.app = app;
window.messages = [];
for (const kind of ["ready", "failed"]) {
    app.updates.addEventListener(kind, (event) => window.messages.push([kind, /** @type {CustomEvent} */ (event).detail]));
}
window.started = app.startOffline();
