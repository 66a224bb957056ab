// Detects whether the hub withheld events of a computer: each names the one before it, and the status the newest.

/**
 * `named`: by an event or a status, but missing. `beginning`: the one before the first that was served; it may have
 * expired. `newest`: the one that is named next, even if it has expired on this device.
 * @typedef {{ hasBegun: boolean, beginning: string | null, named: string[], newest?: string }} EventChain
 */

/** @returns {EventChain} */
export const newChain = () => ({ hasBegun: false, beginning: null, named: [] });

/**
 * @param {EventChain} chain
 * @param {string} id
 * @param {string | undefined} previous
 * @param {boolean} hasPrevious whether the one before is here
 */
export function addEvent(chain, id, previous, hasPrevious) {
    if (!chain.hasBegun) chain.beginning = previous ?? null;
    chain.hasBegun = true;
    chain.named = chain.named.filter((named) => named !== id && named !== chain.beginning);
    if (previous) nameEvent(chain, previous, hasPrevious);
    chain.newest = id;
}

/** @param {EventChain} chain @param {string} id as an event or a status names it @param {boolean} isHere */
export function nameEvent(chain, id, isHere) {
    if (isHere) chain.newest = id;
    else if (![chain.newest, chain.beginning, ...chain.named].includes(id)) chain.named.push(id);
}

/**
 * The least number of missing events, once everything at the hub was read.
 * @param {EventChain} chain
 */
export const missingEvents = (chain) => (chain.hasBegun ? chain.named.length : 0);
