"""The state that tests begin with: AppLocker's packages installed, a passcode, two locked apps."""

import shutil

from applocker import AppLocker
from cache import MACHINES, cached, digest
from machine import Machine
from qemu import qemu_version
from system import disk_image

SUPPORT = MACHINES / "support"


class SavedState:
    """For one kernel. `memory` is what QEMU wrote, `disk` the disk at that moment."""

    def __init__(self, kernel, packages):
        self.kernel, self.packages = kernel, packages
        self.base = disk_image(kernel, packages)
        recipe = [SUPPORT / name for name in ("applocker.py", "qemu.py", "saved.py")]
        key = digest(self.base.parent.name, kernel.folder.name, packages.key, qemu_version(), *recipe)
        folder = cached(f"saved-{kernel.name}", key, self.build)
        self.memory, self.disk = folder / "memory", folder / "disk.qcow2"

    def build(self, folder):
        machine = Machine(folder, self.kernel, self.base, self.packages.image, form="raw")
        try:
            AppLocker(machine).set_up()
            machine.must("sync; echo 3 > /proc/sys/vm/drop_caches")
            machine.qemu.save(folder / "memory")
        except BaseException:
            shutil.copy(folder / "console", folder.parent / "console-of-failed-build")
            raise
        finally:
            machine.end()

    def machine(self, folder):
        """Continues from this state."""
        return Machine(folder, self.kernel, self.disk, self.packages.image, saved=self.memory)

    def booted(self, folder, **options):
        """Boots from the disk of this state, as after a power cut."""
        return Machine(folder, self.kernel, self.disk, self.packages.image, **options)
