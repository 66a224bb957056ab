// How a computer's clock differs from this device's, as far as is known from what the computer sealed. What it writes
// arrives later than it was written, never earlier: so the largest difference seen is nearest to the truth.

/**
 * Milliseconds to add to the own clock, by computer.
 * @typedef {Record<string, number>} Clocks
 */

/**
 * @param {Clocks} clocks
 * @param {string} computer
 * @param {number} clock what the computer wrote, milliseconds since 1970
 * @param {number} own by this device's clock when it arrived
 */
export function updateClock(clocks, computer, clock, own) {
    const sample = clock - own;
    clocks[computer] = Math.max(clocks[computer] ?? sample, sample);
}

/**
 * The computer refused a time: its clock or the own one was set since. What was known before counts no more.
 * @param {Clocks} clocks
 * @param {string} computer
 * @param {number} clock
 * @param {number} own
 */
export function resetClock(clocks, computer, clock, own) {
    clocks[computer] = clock - own;
}

/**
 * The computer's clock now; the own one where nothing is known.
 * @param {Clocks} clocks
 * @param {string} computer
 * @param {number} own
 */
export const clockOf = (clocks, computer, own) => Math.max(0, own + (clocks[computer] ?? 0));
