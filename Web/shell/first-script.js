// The first script of the page: sets its title and icons before anything else is loaded, and starts to load what a
// paired device needs, beside app.js instead of after it.
import { isMarkedPaired } from "../store/page-settings.js";
import { applyIdentity, adoptIdentityFromAddress } from "../ui/app-identity.js";
import { addStylesheets, pairedStylesheets } from "../ui/stylesheets.js";

adoptIdentityFromAddress();
applyIdentity();
if (isMarkedPaired("applocker")) {
    // What fails here fails again where it is needed, and is reported there.
    import("./paired.js").catch(() => {});
    addStylesheets(pairedStylesheets).catch(() => {});
}
