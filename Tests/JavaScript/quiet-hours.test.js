// When a notification makes no sound, and what it says of the owner's changes.
import { isSilentNow, usualQuietHours } from "/workers/notification-text.js";
import { noticeOf } from "/workers/service/notice-text.js";
import { equal } from "./harness.js";

const at = (/** @type {string} */ time) => new Date(`2027-01-15T${time}:00`);
const night = { ...usualQuietHours, isOn: true };

export const tests = {
    quietHoursMayCrossMidnight() {
        const silent = (/** @type {string} */ time) => isSilentNow(night, "blocked", at(time));
        equal(["21:59", "22:00", "00:00", "06:59", "07:00"].map(silent), [false, true, true, true, false], "night");
        const noon = { ...night, from: "12:00", to: "13:30" };
        equal(["11:59", "12:00", "13:29", "13:30"].map((time) => isSilentNow(noon, "blocked", at(time))),
            [false, true, true, false], "noon");
        equal(isSilentNow(usualQuietHours, "blocked", at("23:00")), false, "off");
    },

    aWaitingLaunchAndAnIntruderPhotoAreLoudIfTheyAreExcepted() {
        const kinds = ["launch", "photographed", "failed"];
        const silent = (/** @type {object} */ change) =>
            kinds.map((kind) => isSilentNow({ ...night, ...change }, kind, at("23:00")));
        equal(silent({}), [false, false, true], "as they are at first");
        equal(silent({ launch: false }), [true, false, true], "without the exception for launches");
        equal(silent({ photographed: false }), [false, true, true], "without the exception for photos");
    },

    aKindThatIsTheNameOfAPropertyIsAnUnknownEvent() {
        const body = { kind: "constructor", computer: "c", computerName: "den", time: 0, sentence: "S." };
        const { kind, title } = noticeOf({ collection: "events", id: "1", body }, () => 0);
        equal([kind, title], ["unknown", "New event on den"], "the notification");
    },
};
