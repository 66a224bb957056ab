/**
 * @typedef {"malformed" | "unknownVersion" | "unknownAlgorithm" | "parametersOutOfRange" | "machineSecretMissing"
 *   | "wrongKey" | "damaged" | "keyMissing" | "tooLarge"} FormatErrorCode
 */

/** A sealed value that can't be read, made or checked. Its code is the one that every reader of the format gives. */
export class FormatError extends Error {
    /** @param {FormatErrorCode} code @param {string} sentence what was wrong and what to do; never holds a secret */
    constructor(code, sentence) {
        super(sentence);
        this.name = "FormatError";
        this.code = code;
    }
}
