// Names and icons of moods.

/** @typedef {import("../../ui/icon.js").IconName} IconName */

/** @type {Record<string, [string, IconName]>} */
const known = {
    love: ["Love", "heart"], joy: ["Joy", "smile"], calm: ["Calm", "calm"], proud: ["Proud", "star"],
    excited: ["Excited", "spark"], grateful: ["Grateful", "sun"], funny: ["Funny", "laugh"], sad: ["Sad", "frown"],
};

/** @param {string} mood one of `moods`, or a word of the person's own */
export const moodName = (mood) => known[mood]?.[0] ?? mood;

/** @param {string} mood @returns {IconName} */
export const moodIcon = (mood) => known[mood]?.[1] ?? "smile";
