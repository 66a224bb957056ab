// Several tabs of one phone, at a hub whose store is restored to an earlier backup. What one tab detects applies to all
// of them.
import { Companion } from "/session/companion.js";
import { equal, eventually } from "./harness.js";
import { createDevice } from "./fake-household.js";
import { isSettled, pairedPhones, phoneWithLaterNote, quick, RestorableHousehold,
    titles } from "./restorable-household.js";

export const tests = {
    async aRosterThatAnotherTabStoredMeanwhileIsNotReported() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        await eventually(() => phone.syncLoop.connection === "live", "live");
        const { device } = phone;
        const before = device.roster.number;
        const { roster } = device.hub;
        // The other tab stores a longer roster while this tab waits for a response with the shorter one.
        device.hub.roster = async (/** @type {number} */ after) => {
            delete device.hub.roster;
            const served = await roster.call(device.hub, after);
            await hub.append(hub.computer, hub.admit(await createDevice(), 1));
            const longer = await device.roster.following(await roster.call(device.hub, after));
            await device.store.write({ facts: { roster: longer.entries } });
            await device.load();
            return served;
        };
        await device.followRoster();
        equal([device.roster.number, await device.store.fact("misbehaviour", [])], [before + 1, []],
            "the roster's length, and reports");
        phone.close();
    },

    async theUnlockedTabSendsRecordsThatAnotherTabFoundLost() {
        const { hub, phone, backup, before } = await phoneWithLaterNote();
        const tab = await Companion.open({ name: phone.name, time: quick });
        await tab.unlockWithPIN("735102");
        // Unlocking sends too, and writes into the log.
        await eventually(async () => hub.records.some(({ collection }) => collection === "audit")
            && (await isSettled(tab)), "the unlocked tab is connected and settled");
        await tab.device.tabs.exclusive("send", async () => {});
        phone.lockTab();
        // As if a hub had refused it before.
        tab.device.notResent.add(`notes/${before[0].id}`);
        hub.restore(backup);
        await eventually(() => hub.notes().length === 1, "sent again");
        equal([phone.state, tab.syncLoop.connection, hub.notes()], ["locked", "other", before],
            "the tab without a connection sends it");
        for (const one of [tab, phone]) one.close();
    },

    /** Another tab compares the stores while this tab still holds data of the earlier store. */
    async recordsOfTheEarlierStoreDoNotRaiseTheCursor() {
        for (const way of ["page", "stream"]) {
            const hub = await RestorableHousehold.make();
            const [phone] = await pairedPhones(hub, ["phone"]);
            const tab = await Companion.open({ name: phone.name, time: quick });
            const backup = hub.backup();
            hub.store(await hub.note("read"));
            hub.disconnectAll();
            await eventually(async () => (await titles(phone)).length === 1 && hub.streams.length === 1,
                "the note arrives");
            for (let index = 0; index < 4; index += 1) hub.store(await hub.note("of the earlier store"));
            const fresh = await Promise.all(["a", "b", "c", "d", "e", "f"].map((title) => hub.note(title)));
            const [before, streams, ends] = [hub.backup(), hub.streams, hub.ends];
            const restore = async () => {
                hub.ends = [];
                hub.restore(backup);
                await tab.refresh();
                hub.store(...fresh);
            };
            if (way === "page") {
                hub.overrides["GET /v1/records"] = async (url) => {
                    delete hub.overrides["GET /v1/records"];
                    await restore();
                    const after = Number(url.searchParams.get("after"));
                    return {
                        records: before.records.filter(({ sequence }) => sequence > after), next: before.sequence,
                        more: false,
                    };
                };
                hub.disconnectAll();
            } else {
                await restore();
                const last = before.records.at(-1);
                streams[0](`event: record\nid: ${last.sequence}\ndata: ${JSON.stringify(last)}\n\n`);
                ends[0]();
            }
            const all = ["a", "b", "c", "d", "e", "f", "read"];
            await eventually(async () => (await titles(phone))
                .join() === all.join() && hub.notes().length === all.length, way)
                .catch(async (error) => equal(await titles(phone), all, error.message));
            for (const one of [tab, phone]) one.close();
        }
    },

    /** Another tab detects the restored hub while this tab stores the first of two outcomes. */
    async aConflictFromTheEarlierStoreIsIgnored() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        const { store, tabs } = phone.device;
        const notes = [await phone.notes.save(null, { title: "one", body: "" }),
            await phone.notes.save(null, { title: "two", body: "" })];
        notes.sort((one, other) => (one.id < other.id ? -1 : 1));
        await eventually(() => isSettled(phone), "sent");
        hub.setOffline(phone, true);
        for (const note of notes) await phone.notes.save(note, { title: `${note.title} changed`, body: "" });
        const backup = hub.backup();
        const theirs = {
            ...(await hub.note("by the computer", { id: notes[1].id, revision: 2 })), sequence: hub.sequence + 2,
            ancestors: "",
        };
        let release = () => {};
        hub.overrides["POST /v1/records"] = async (_, body) => {
            // An attempt may have started between the two changes.
            if (JSON.parse(body).records.length < 2) throw new TypeError("no network");
            delete hub.overrides["POST /v1/records"];
            await new Promise((resolve) => tabs.exclusive("edit", () => {
                resolve();
                return new Promise((done) => (release = done));
            }));
            return { outcomes: [{ sequence: hub.sequence + 1 }, { conflict: theirs }] };
        };
        hub.setOffline(phone, false);
        await eventually(async () => (await navigator.locks.query()).pending.some(({ name }) =>
            name === `${phone.name}/edit`), "the first outcome is stored");
        hub.restore(backup);
        const tab = await Companion.open({ name: phone.name, time: quick });
        const refreshed = tab.refresh();
        await eventually(async () => (await store.fact("generations", [])).length === 2,
            "another tab detects the restored hub");
        release();
        await refreshed;
        await eventually(async () => (await isSettled(phone)) && hub.notes().every(({ revision }) => revision === 2),
            "the changes are sent to the restored hub");
        equal(await titles(phone), ["one changed", "two changed"], "notes");
        equal((await store.record(`notes/${notes[1].id}`)).record.sealed, hub.notes()[1].sealed,
            "the sealed note on the phone");
        for (const one of [tab, phone]) one.close();
    },

    async aChangeInAnotherTabIsKept() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        const { id } = await phone.notes.save(null, { title: "first", body: "" });
        await eventually(() => isSettled(phone), "sent");
        const tab = await Companion.open({ name: phone.name, time: quick });
        await tab.unlockWithPIN("735102");
        const [here, there] = [await phone.notes.read(id), await tab.notes.read(id)];
        await phone.notes.save(here, { title: "here", body: "" });
        await eventually(() => isSettled(phone), "sent");
        await tab.notes.save(there, { title: "there", body: "" });
        await eventually(async () => (await isSettled(tab)) && hub.notes().length === 2, "both changes are sent");
        equal(await titles(phone), ["here", "there (conflict, phone)"], "titles");
        for (const one of [tab, phone]) one.close();
    },
};
