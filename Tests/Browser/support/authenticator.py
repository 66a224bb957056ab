"""A virtual platform authenticator with PRF, created over the Chrome DevTools Protocol."""


def virtual_authenticator(session, **options):
    """Returns its identifier. `session` is a CDP session of the page; `options` override those of a working
    authenticator."""
    session.send("WebAuthn.enable")
    added = session.send(
        "WebAuthn.addVirtualAuthenticator",
        {
            "options": {
                "protocol": "ctap2",
                "ctap2Version": "ctap2_1",
                "transport": "internal",
                "hasResidentKey": True,
                "hasUserVerification": True,
                "isUserVerified": True,
                "hasPrf": True,
                "automaticPresenceSimulation": True,
                **options,
            }
        },
    )
    return added["authenticatorId"]
