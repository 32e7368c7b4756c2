/**
 * An immutable map from digests to values: setting one copies a handful of small arrays, so a state of a hundred thousand entries can be
 * kept, compared and rewound without copying it. Keys are hex digests, which are evenly spread already.
 */
export type DigestMap<V> = Branch<V>

type Branch<V> = readonly Slot<V>[]
type Slot<V> = undefined | { readonly key: string; readonly value: V } | Branch<V>

export const EMPTY_DIGESTS: DigestMap<never> = []

export function getDigest<V>(map: DigestMap<V>, key: string): V | undefined {
  let branch: Branch<V> = map
  for (let depth = firstDigit(key); depth < key.length; depth++) {
    const slot: Slot<V> = branch[digitAt(key, depth)]
    if (slot === undefined) return undefined
    if (!isBranch(slot)) return slot.key === key ? slot.value : undefined
    branch = slot
  }
  return undefined
}

export function setDigest<V>(map: DigestMap<V>, key: string, value: V): DigestMap<V> {
  return insert(map, key, value, firstDigit(key))
}

function insert<V>(branch: Branch<V>, key: string, value: V, depth: number): Branch<V> {
  const copy = branch.slice()
  const digit = digitAt(key, depth)
  const slot = copy[digit]
  if (slot === undefined) copy[digit] = { key, value }
  else if (isBranch(slot)) copy[digit] = insert(slot, key, value, depth + 1)
  else if (slot.key === key) copy[digit] = { key, value }
  else copy[digit] = insert(insert<V>([], slot.key, slot.value, depth + 1), key, value, depth + 1)
  return copy
}

const isBranch = <V>(slot: Exclude<Slot<V>, undefined>): slot is Branch<V> => Array.isArray(slot)
// Digests are written `sha256:…`; the first seven characters tell nothing apart.
const firstDigit = (key: string): number => (key.charCodeAt(6) === 0x3a ? 7 : key.indexOf(":") + 1)
// "0" to "9" and "a" to "f", by their codes: this is asked for every level of every look-up.
function digitAt(key: string, depth: number): number {
  const code = key.charCodeAt(depth)
  return code < 0x60 ? code - 0x30 : code - 0x57
}

/**
 * A map that forgets: when the young half is full it becomes the old one, and the old one goes. What is looked up often is set again by
 * its users and so stays. A proxy that runs for months needs a bound, and a conversation untouched for so long will not come back.
 */
export interface FadingMap<V> {
  readonly young: DigestMap<V>
  readonly old: DigestMap<V>
  readonly size: number
}

export const EMPTY_FADING: FadingMap<never> = { young: EMPTY_DIGESTS, old: EMPTY_DIGESTS, size: 0 }
const YOUNG_LIMIT = 100_000

export function recall<V>(map: FadingMap<V>, key: string): V | undefined {
  return getDigest(map.young, key) ?? getDigest(map.old, key)
}

export function remember<V>(map: FadingMap<V>, key: string, value: V): FadingMap<V> {
  if (map.size >= YOUNG_LIMIT) return { young: setDigest<V>(EMPTY_DIGESTS, key, value), old: map.young, size: 1 }
  return { young: setDigest(map.young, key, value), old: map.old, size: map.size + 1 }
}
