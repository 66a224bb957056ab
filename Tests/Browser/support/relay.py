"""A network between a browser and a hub that can be disconnected, for an engine without an offline mode."""

import contextlib
import socket
import threading

from ports import free_port


class Relay:
    """Listens on `port` of 127.0.0.1 and forwards to `target`, unless it is disconnected."""

    def __init__(self, target, port=None):
        """`port`: by default a free port; it stays the same."""
        self.target, self.port, self.listener, self.pairs = target, port or free_port(), None, set()
        self.set_offline(False)

    def set_offline(self, is_offline):
        if self.listener:
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            self.listener = None
        for one in list(self.pairs):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        if not is_offline:
            self.listener = socket.create_server(("127.0.0.1", self.port))
            threading.Thread(target=self.accept, args=[self.listener], daemon=True).start()

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                near, _ = listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    near.close()
                    continue
                self.pairs |= {near, far}
                if self.listener is not listener:
                    # It was cut while this connection was made.
                    for one in (near, far):
                        one.close()
                    continue
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self.carry, args=[one, other], daemon=True).start()

    def carry(self, one, other):
        with contextlib.suppress(OSError):
            while part := one.recv(65536):
                self.pass_on(part, one, other)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            self.pairs.discard(end)

    def pass_on(self, part, one, other):
        """Sends `part`, which `one` has received, to `other`."""
        other.sendall(part)
