// On an iPhone or iPad, a browser's tab and an app on the Home Screen store their data separately.

/**
 * Whether the page is in a tab there. An iPad reports itself as a Mac, which has no touch screen.
 * @param {{ userAgent: string, maxTouchPoints: number, standalone?: boolean }} navigator
 */
export const isIOSTab = ({ userAgent, maxTouchPoints, standalone }) =>
    standalone === false
    && (/iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1));
