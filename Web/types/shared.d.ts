// Types of one feature's state that other features reach through the companion session.
import type { StagedPhoto as Staged } from "../features/moments/moment-photos.js";
import type { Moment as MomentOfVault } from "../features/moments/moments.js";
import type { Vault as SharedVault } from "../features/vaults/vaults.js";

declare global {
    type Moment = MomentOfVault;
    type StagedPhoto = Staged;
    type Vault = SharedVault;
}
