// Runs while no page is open: caches the app's files, shows push messages, and receives what is shared. It also passes
// what a page plays to the browser's player.
import { clicked, pushed, resubscribe, seen } from "./workers/service/notifications.js";
import { activate, answer, install, routePastWorker } from "./workers/service/app-cache.js";
import { answerPlayback, isPlayback } from "./workers/service/playback.js";
import { handOver, isShare, receiveShare } from "./workers/service/received-shares.js";

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

worker.addEventListener("install", (event) => event.waitUntil(Promise.all([install(), routePastWorker(event)])));
worker.addEventListener("activate", (event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (event) =>
    (isShare(event) ? receiveShare(event) : isPlayback(event) ? answerPlayback(event) : answer(event)));
worker.addEventListener("push", (event) => event.waitUntil(pushed(event)));
worker.addEventListener("notificationclick", (event) => event.waitUntil(clicked(event)));
worker.addEventListener("pushsubscriptionchange", (event) =>
    /** @type {ExtendableEvent} */ (event).waitUntil(resubscribe().catch(() => {})));
worker.addEventListener("message", (event) => {
    if (event.data?.kind === "apply") event.waitUntil(worker.skipWaiting());
    if (event.data?.kind === "seen") event.waitUntil(seen());
    if (event.data?.kind === "shared") handOver(event);
});
