// Projects positions by Mercator, and merges near ones.
import { groupBy } from "../../household/group-by.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {{ moment: Moment, x: number, y: number }} Point of the world, from 0 to 1; y to the south */
/** @typedef {{ x: number, y: number, points: Point[] }} Cluster */

/** Mercator is infinite beyond it. Degrees. */
const mostLatitude = 85;

/** @param {number} longitude @param {number} latitude degrees */
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
 * Merges overlapping points. Each cluster is where most of its points are; the largest first.
 * @param {Point[]} points
 * @param {number} scale the world's width, in pixels of the screen
 * @param {number} apart pixels
 * @returns {Cluster[]}
 */
export function clustered(points, scale, apart) {
    const across = Math.ceil(scale / apart) + 1;
    const cells = groupBy(points,
        ({ x, y }) => Math.floor((y * scale) / apart) * across + Math.floor((x * scale) / apart));
    /**
     * By grid cell: near clusters are in the same cell or an adjacent one.
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
