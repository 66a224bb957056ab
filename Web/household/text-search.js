// Text search: all words have to occur, in large or small letters.

/**
 * Returns a function that checks whether a text in small letters has all words; it asks for the text only if there is a
 * word.
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
