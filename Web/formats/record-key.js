/**
 * The key of a record in the store, and in "changed" events: "collection/id".
 * @param {string} collection
 * @param {string} id
 */
export const recordKey = (collection, id) => `${collection}/${id}`;
