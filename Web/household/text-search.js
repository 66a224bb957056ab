// What a search is, wherever there is one: words that a text has, all of them, large or small letters alike.

/**
 * Returns a function that checks whether a text has all words; an empty search matches every text. It asks for the text
 * in small letters, and only where there is a word.
 * @param {string} search as it was typed
 * @returns {(text: () => string) => boolean}
 */
export function textMatcher(search) {
    const words = search.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return () => true;
    return (text) => {
        const looked = text();
        return words.every((word) => looked.includes(word));
    };
}
