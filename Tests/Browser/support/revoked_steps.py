"""What the tests of revoked phones have in common."""

import base64
import contextlib
import hashlib
import json
import sqlite3
import urllib.parse

from moment_devices import files_below


def serves_list_to_revoked(phone, computer):
    """The hub answers a revoked device's request for the list of devices (docs/hub-protocol.md), with the entries that it really has. For
    the phone as it is paired now."""

    def rows(query, values=()):
        file = next(path for path in files_below(computer.folder / "hub") if path.suffix == ".sqlite")
        with contextlib.closing(sqlite3.connect(file, timeout=20)) as database:
            return database.execute(query, values).fetchall()

    households = dict(rows("SELECT token_hash, household FROM device WHERE token_hash IS NOT NULL"))

    def answer(route):
        response = route.fetch()
        token = base64.urlsafe_b64decode(route.request.headers["authorization"].split()[1] + "=")
        household = households.get(hashlib.sha256(token).digest())
        if response.status != 401 or household is None:
            return route.fulfill(response=response)
        after = int(urllib.parse.parse_qs(urllib.parse.urlparse(route.request.url).query)["after"][0])
        entries = rows("SELECT entry FROM roster WHERE household = ? AND number > ? ORDER BY number", (household, after))
        body = json.dumps({"entries": [base64.b64encode(entry).decode() for (entry,) in entries]})
        return route.fulfill(status=200, content_type="application/json", body=body)

    phone.context.route("**/v1/roster?*", answer)
