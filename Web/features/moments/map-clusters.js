// Where things lie on the plot, and which of them are drawn as one.

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {{ moment: Moment, x: number, y: number }} Point of the world, from 0 to 1; y to the south */
/** @typedef {{ x: number, y: number, points: Point[] }} Cluster */

/** Beyond it Mercator has no end. Degrees. */
const mostLatitude = 85;

/**
 * Mercator: shapes are right wherever one looks closely.
 * @param {number} longitude @param {number} latitude degrees
 */
export function project(longitude, latitude) {
    const angle = (Math.max(-mostLatitude, Math.min(mostLatitude, latitude)) * Math.PI) / 180;
    return { x: longitude / 360 + 0.5, y: 0.5 - Math.log(Math.tan(Math.PI / 4 + angle / 2)) / (2 * Math.PI) };
}

/** @param {number} x @param {number} y */
export const unproject = (x, y) =>
    ({ longitude: (x - 0.5) * 360, latitude: (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI });

/**
 * Newest first.
 * @param {Moment[]} moments
 * @returns {Point[]}
 */
export const pointsOf = (moments) => moments.flatMap((moment) => {
    const { latitude, longitude } = moment.place ?? {};
    return latitude === undefined || longitude === undefined ? [] : [{ moment, ...project(longitude, latitude) }];
});

/**
 * What would overlap is one. Each is where most of its points are; the largest first.
 * @param {Point[]} points
 * @param {number} scale the world's width, in pixels of the screen
 * @param {number} apart pixels
 * @returns {Cluster[]}
 */
export function clustered(points, scale, apart) {
    /** @type {Map<number, Point[]>} */
    const cells = new Map();
    const across = Math.ceil(scale / apart) + 1;
    for (const point of points) {
        const cell = Math.floor((point.y * scale) / apart) * across + Math.floor((point.x * scale) / apart);
        const there = cells.get(cell);
        if (there) there.push(point);
        else cells.set(cell, [point]);
    }
    /**
     * By the cell that each is in the middle of: what is too near lies there, or in one beside.
     * @type {Map<number, Cluster>}
     */
    const clusters = new Map();
    const around = [0, -1, 1].flatMap((row) => [0, -1, 1].map((column) => row * across + column));
    for (const [cell, inside] of [...cells].sort(([, one], [, other]) => other.length - one.length)) {
        const found = middle(inside);
        let near;
        for (const step of around) {
            const other = clusters.get(cell + step);
            if (other && Math.hypot(other.x - found.x, other.y - found.y) * scale < apart) near = other;
        }
        if (!near) clusters.set(cell, found);
        else for (const point of inside) near.points.push(point);
    }
    return [...clusters.values()];
}

/** @param {Point[]} points @returns {Cluster} */
function middle(points) {
    const sum = points.reduce((so, { x, y }) => ({ x: so.x + x, y: so.y + y }), { x: 0, y: 0 });
    return { x: sum.x / points.length, y: sum.y / points.length, points };
}
