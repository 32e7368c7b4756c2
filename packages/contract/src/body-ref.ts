/** The middle of every mask: the same for every secret, so that it does not tell how long the secret was. */
export const MASK_MIDDLE = "…redacted…"

/** Most masks a ref lists; beyond them `mask_count` says how many there are. */
export const MAX_LISTED_MASKS = 64
