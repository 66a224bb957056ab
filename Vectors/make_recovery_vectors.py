"""Part of make_sealed_vectors.py: recovery codes."""

from make_sealed_vectors import fixed, write
from sealed_formats import recovery_digits


def write_all():
    opens = []
    for label, secret in [
        ("zeros", bytes(20)),
        ("ones", b"\xff" * 20),
        ("counting", bytes(range(20))),
        ("one bit", bytes(19) + b"\1"),
        ("random", fixed("recovery", 20)),
        ("more random", fixed("recovery 2", 20)),
    ]:
        digits = recovery_digits(secret)
        printed = "-".join(digits[place : place + 4] for place in range(0, 36, 4))
        typed = [
            printed,
            digits,
            printed.lower(),
            " " + printed.replace("-", " ") + "\n",
            "-".join(digits),
            printed.replace("0", "o").replace("1", "l"),
            printed.replace("0", "O").replace("1", "I"),
        ]
        opens.append({"name": label, "secret": secret.hex(), "printed": printed, "passcode": digits, "typed": typed})
    digits = recovery_digits(fixed("recovery", 20))
    swapped = digits[:7] + digits[8] + digits[7] + digits[9:]
    assert swapped != digits
    mistyped = digits[:10] + ("0" if digits[10] != "0" else "1") + digits[11:]
    write(
        "recovery.json",
        opens,
        [
            {"name": label, "typed": typed, "error": "malformed"}
            for label, typed in [
                ("empty", ""),
                ("dashes alone", "-" * 36),
                ("a digit missing", digits[:-1]),
                ("a digit too many", digits + "0"),
                ("twice", digits * 2),
                ("U is no digit", "U" + digits[1:]),
                ("another alphabet", "É" + digits[1:]),
                ("a NUL", "\0" + digits),
                ("an underscore", digits + "_"),
                ("a digit mistyped", mistyped),
                ("two digits exchanged", swapped),
                ("last check digit", digits[:-1] + ("0" if digits[-1] != "0" else "1")),
            ]
        ],
    )
