// A device without room. The browser asks for its room once, so this has a page of its own.
import { equal, refusal } from "./harness.js";
import { MadeHousehold, pairedCompanion, refusing } from "./made-household.js";

export const tests = {
    async aFullDiskLosesNothing() {
        await window.quota(1_000_000);
        const household = await MadeHousehold.make();
        const { companion } = await pairedCompanion(household);
        household.instead["POST /v1/records"] = refusing("unavailable", 503);
        const kept = await companion.notes.save(null, { title: "kept", body: "" });
        const code = await refusal(() =>
            companion.notes.save(kept, { title: "too much", body: "x".repeat(12_000_000) }));
        equal(code, "full", "said");
        equal((await companion.notes.read(kept.id)).title, "kept", "as before");
        companion.close();
    },
};
