// A device with full storage. The browser requests its quota once, so this test has a page of its own.
import { equal, refusal } from "./harness.js";
import { FakeHousehold, pairedCompanion, refusing } from "./fake-household.js";

export const tests = {
    async fullStorageLosesNothing() {
        await window.quota(1_000_000);
        const household = await FakeHousehold.make();
        const { companion } = await pairedCompanion(household);
        household.overrides["POST /v1/records"] = refusing("unavailable", 503);
        const kept = await companion.notes.save(null, { title: "kept", body: "" });
        const code = await refusal(() =>
            companion.notes.save(kept, { title: "too much", body: "x".repeat(12_000_000) }));
        equal(code, "full", "the error's code");
        equal((await companion.notes.read(kept.id)).title, "kept", "the title in storage");
        companion.close();
    },
};
