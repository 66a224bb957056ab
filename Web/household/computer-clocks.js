// A computer's clock compared with this device's, by what the computer sealed. That arrives later than it was written,
// never earlier, so the largest difference is the most accurate.

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
 * The computer refused a time: one of the clocks was set since, so earlier samples are dropped.
 * @param {Clocks} clocks
 * @param {string} computer
 * @param {number} clock
 * @param {number} own
 */
export function resetClock(clocks, computer, clock, own) {
    clocks[computer] = clock - own;
}

/**
 * The computer's clock now; this device's if it is unknown.
 * @param {Clocks} clocks
 * @param {string} computer
 * @param {number} own
 */
export const clockOf = (clocks, computer, own) => Math.max(0, own + (clocks[computer] ?? 0));
