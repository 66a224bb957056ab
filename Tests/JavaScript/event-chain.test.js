// Which events of a computer are missing.
import { addEvent, missingEvents, nameEvent, newChain } from "/household/event-chain.js";
import { equal } from "./harness.js";

export const tests = {
    anEventThatExpiredOnThisDeviceIsNotMissing() {
        const chain = newChain();
        addEvent(chain, "one", undefined, false);
        nameEvent(chain, "one", false);
        equal(missingEvents(chain), 0, "named by a status");
        addEvent(chain, "two", "one", false);
        equal(missingEvents(chain), 0, "named by the next event");
    },

    theNewestEventIsNotMissingIfAnEarlierOneArrivedLater() {
        const chain = newChain();
        addEvent(chain, "one", undefined, false);
        addEvent(chain, "three", "two", false);
        equal(missingEvents(chain), 1, "before it arrived");
        addEvent(chain, "two", "one", true);
        nameEvent(chain, "three", true);
        nameEvent(chain, "three", false);
        equal(missingEvents(chain), 0, "once the newest has expired");
        addEvent(chain, "five", "four", false);
        equal(missingEvents(chain), 1, "a withheld event afterwards");
    },

    theEventBeforeTheFirstIsNotMissingIfAStatusNamedIt() {
        const chain = newChain();
        nameEvent(chain, "one", false);
        addEvent(chain, "two", "one", false);
        equal(missingEvents(chain), 0, "missing events");
        nameEvent(chain, "three", false);
        equal(missingEvents(chain), 1, "a withheld event afterwards");
    },
};
