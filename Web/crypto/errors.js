/**
 * @typedef {"malformed" | "unknownVersion" | "unknownAlgorithm" | "parametersOutOfRange" | "machineSecretMissing"
 *   | "wrongKey" | "damaged" | "keyMissing" | "tooLarge"} FormatErrorCode
 */

/** A sealed value that can't be read, made or checked. The code is the same in every reader of the format. */
export class FormatError extends Error {
    /** @param {FormatErrorCode} code @param {string} sentence what failed and what to do, without secrets */
    constructor(code, sentence) {
        super(sentence);
        this.name = "FormatError";
        this.code = code;
    }
}
