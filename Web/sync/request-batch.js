// How many records go in one request.

const batchRecords = 64;
const batchCharacters = 5_000_000;

/**
 * What goes in one request: of these, as many from the first on.
 * @template {{ record: HubRecord }} Line
 * @param {Line[]} lines
 */
export function firstBatch(lines) {
    let characters = 0;
    const count = lines.slice(0, batchRecords).filter(({ record }) => {
        characters += (record.sealed?.length ?? 0) + 1024;
        return characters <= batchCharacters;
    }).length;
    return lines.slice(0, Math.max(1, count));
}
