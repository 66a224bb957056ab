// Who may found a household at the hub of this page.
import { HubClient } from "../../hub/client.js";

/** Null while it is unknown. @returns {Promise<HubAPI.HubRegistration | null>} */
export async function registration() {
    try {
        return (await new HubClient(location.origin, null).hub()).registration ?? null;
    } catch {
        return null;
    }
}
