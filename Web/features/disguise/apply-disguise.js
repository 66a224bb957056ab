// The first script of the page: sets its title and icons before anything else is loaded.
import { applyIdentity, adoptIdentityFromAddress } from "../../ui/app-identity.js";

adoptIdentityFromAddress();
applyIdentity();
