// The first script of the page: gives it a name and icons before anything else is loaded.
import { dress, takeAddress } from "./views/disguise.js";

takeAddress();
dress();
