// How many records go in one request.

const batchRecords = 64;
const batchCharacters = 5_000_000;

/**
 * As many of the first lines as fit in one request.
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
