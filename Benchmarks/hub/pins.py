"""Whether response times distinguish the four entries of a PIN share, by the two-sample Kolmogorov-Smirnov test."""

import hashlib
import http.client
import itertools
import json
import secrets
import time

from cryptography.hazmat.primitives.asymmetric import ec

from figures import percentile
from servers import Hub, public_point, text

ENTRIES = 4
ATTEMPTS = 2_000
# Critical value of the test at the level 0.001, for two samples of n values: factor * sqrt(2 / n).
FACTOR = 1.95


def measure(run):
    attempts = 200 if run.is_quick else ATTEMPTS
    with Hub(run) as hub:
        client = Companion(hub)
        verifiers = [secrets.token_bytes(32) for _ in range(ENTRIES)]
        entries = [
            {
                "verifier": text(verifier),
                "share": text(secrets.token_bytes(32)),
                "changeHash": text(hashlib.sha256(secrets.token_bytes(32)).digest()),
            }
            for verifier in verifiers
        ]
        client.ask("PUT", "/v1/pin-share", {"entries": entries}, 204)
        times = {number: [] for number in range(ENTRIES)}
        lengths = set()
        for _ in range(attempts):
            # A wrong PIN is among them: its time must not reveal either which entry follows it.
            for number in run.random.sample([*times, None], ENTRIES + 1):
                verifier = secrets.token_bytes(32) if number is None else verifiers[number]
                start = time.perf_counter()
                words = client.ask(
                    "POST", "/v1/pin-share/attempt", {"verifier": text(verifier)}, 403 if number is None else 200
                )
                if number is not None:
                    times[number].append(time.perf_counter() - start)
                    lengths.add(len(words))
    if len(lengths) != 1:
        raise SystemExit(f"Benchmarks/hub: answers to a right PIN have several lengths: {lengths}")
    distance = max(ks_distance(one, other) for one, other in itertools.combinations(times.values(), 2))
    limit = FACTOR * (2 / attempts) ** 0.5
    run.figures.add(
        "pin_entries_distance",
        distance,
        "",
        f"largest distance of two entries' answer times, {attempts} each",
        f"< {limit:.4f}",
        lambda value: value < limit,
    )
    for number, values in times.items():
        run.figures.add(
            f"pin_entry_{number + 1}_p50", percentile(values, 0.5) * 1e3, "ms", f"right PIN of entry {number + 1}, p50"
        )


def ks_distance(one, other):
    """The largest distance between the two samples' distribution functions."""
    points = sorted([(value, 1 / len(one)) for value in one] + [(value, -1 / len(other)) for value in other])
    return max(abs(sum_) for sum_ in itertools.accumulate(step for _, step in points))


class Companion:
    """A phone that was admitted."""

    def __init__(self, hub):
        self.connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=30)
        token, proof = secrets.token_bytes(32), secrets.token_bytes(32)
        point = public_point(ec.generate_private_key(ec.SECP256R1()))
        invitation, device = secrets.token_hex(16), hashlib.sha256(point).hexdigest()[:32]
        self.token = hub.token
        self.ask(
            "POST",
            "/v1/invitations",
            {"id": invitation, "proofHash": text(hashlib.sha256(proof).digest()), "expiresInSeconds": 300},
            204,
        )
        self.ask(
            "POST",
            f"/v1/invitations/{invitation}/join",
            {
                "proof": text(proof),
                "device": device,
                "role": "companion",
                "tokenHash": text(hashlib.sha256(token).digest()),
                "sealed": text(b"name"),
            },
            200,
        )
        self.ask(
            "POST",
            "/v1/roster",
            {
                "number": 2,
                "entry": text(hub.admission(point)),
                "change": {"admit": {"device": device, "role": "companion", "invitation": invitation}},
            },
            204,
        )
        self.token = text(token).rstrip("=").replace("+", "-").replace("/", "_")

    def ask(self, method, path, body, expected):
        self.connection.request(
            method,
            path,
            json.dumps(body),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"},
        )
        answer = self.connection.getresponse()
        words = answer.read()
        if answer.status != expected:
            raise SystemExit(f"Benchmarks/hub: {method} {path} is answered with {answer.status}: {words!r}")
        return words
