import { groupBy } from "./group-by.js"

/** What two prompts are compared by. */
export interface Comparable {
  readonly kind: string
  readonly contributor: string
  /** Equal where the content is equal; undefined where that is not known. */
  readonly hash: string | undefined
}

/** One prompt beside the one before it, each list in the order of its prompt. */
export interface Pairs<Item> {
  readonly added: readonly Item[]
  readonly removed: readonly Item[]
  readonly kept: readonly { readonly item: Item; readonly before: Item }[]
}

/**
 * Segments have no names, so they are first known by their content, also where the message of one turn is history in the next. Of what is
 * left, one of a kind and contributor on either side is the same thing with another content; but in a list of messages that was read off
 * the traffic nothing says that one message became another.
 */
export function pairSegments<Item extends Comparable>(
  before: readonly Item[],
  now: readonly Item[],
  areMessagesNamed: boolean,
): Pairs<Item> {
  const byHash = groupBy(
    before.filter(({ hash }) => hash !== undefined),
    ({ hash }) => hash!,
  )
  const kept: { item: Item; before: Item }[] = []
  const fresh: Item[] = []
  for (const item of now) {
    const earlier = item.hash === undefined ? undefined : byHash.get(item.hash)?.shift()
    if (earlier) kept.push({ item, before: earlier })
    else fresh.push(item)
  }
  const known = new Set(kept.map((pair) => pair.before))
  const gone = before.filter((item) => !known.has(item))
  const isNamed = (item: Item): boolean => areMessagesNamed || !isMessage(item)
  const goneByName = groupBy(gone.filter(isNamed), nameKey)
  const paired = new Set<Item>()
  for (const [name, [item, ...others]] of groupBy(fresh.filter(isNamed), nameKey)) {
    const [earlier, ...more] = goneByName.get(name) ?? []
    if (!item || !earlier || others.length > 0 || more.length > 0) continue
    kept.push({ item, before: earlier })
    paired.add(item).add(earlier)
  }
  const isLeft = (item: Item): boolean => !paired.has(item)
  return { added: fresh.filter(isLeft), removed: gone.filter(isLeft), kept }
}

export const isMessage = ({ kind }: Comparable): boolean => kind === "history" || kind === "user-msg"

const nameKey = ({ kind, contributor }: Comparable): string => `${kind}\0${contributor}`
