// Harmless moments that a decoy vault can begin with: an empty vault is not believable.

/** @typedef {import("../../formats/moment-format.js").MomentContent} MomentContent */

const count = 6;
const day = 86_400;

/** Title, words, mood and place. A user of AppLocker may recognise them: the screen says to change them. */
const samples = [
    ["Soup and a film", "It rained all evening. We fell asleep before the end.", "calm", ""],
    ["Market", "Too many tomatoes, and the good bread.", "joy", "Market square"],
    ["Long walk", "Twelve kilometres, one blister.", "proud", "By the river"],
    ["Dinner with everybody", "Eleven people, eight chairs.", "funny", ""],
    ["New lamp", "The living room looks twice as large.", "joy", ""],
    ["Ice cream in the cold", "The only ones in the queue.", "funny", "The corner shop"],
    ["Sunday", "Coffee, newspaper, nothing else.", "calm", ""],
    ["The late train", "Two hours on the platform, and we talked all the time.", "love", "Central station"],
    ["First swim of the year", "Very cold, very short.", "excited", "The lake"],
    ["Thank you", "For the help with the shelf. It still stands.", "grateful", ""],
    ["Birthday cake", "It leaned to one side and tasted wonderful.", "joy", ""],
    ["Museum", "We saw three rooms and then the café.", "calm", "Museum"],
    ["Snow", "The whole street was quiet.", "calm", ""],
    ["Lost keys", "They were in the other coat.", "sad", ""],
];

/**
 * Some of them, on days of the last months.
 * @param {number} now seconds since 1970
 * @param {() => number} [random] 0 to 1, without 1
 * @returns {MomentContent[]}
 */
export function sampleMoments(now, random = Math.random) {
    const left = [...samples];
    let date = now;
    return Array.from({ length: count }, () => {
        const [[title, words, mood, place]] = left.splice(Math.floor(random() * left.length), 1);
        date -= Math.round((2 + random() * 40) * day + random() * day / 4);
        return {
            title, words, mood, date, offset: -new Date(date * 1000).getTimezoneOffset(), photos: [], favourite: false,
            ...(place ? { place: { name: place } } : {}), created: date, modified: date,
        };
    });
}
