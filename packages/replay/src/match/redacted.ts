import type { BodyMask } from "@orangebox/contract"

/**
 * Whether a request that is asked now is the recorded one, secret by secret in its place. An answer that held a secret was stored and is
 * served with its mask, so what the agent does with it next holds the mask where the recorded request held the secret: there the mask may
 * stand, and nowhere else. A secret that is still one has to be the recorded one.
 *
 * @param recorded the recorded request as compared, the tags of its secrets in their places
 * @returns the rules of the secrets that are masks now; undefined where it is another request
 */
export function masksServedIn(
  recorded: string,
  asked: string,
  secrets: readonly RecordedSecret[],
): readonly string[] | undefined {
  const byTag = new Map(secrets.map((secret) => [secret.tag, secret]))
  const rules = new Set<string>()
  let at = 0
  let from = 0
  const passes = (text: string): boolean => {
    const isThere = asked.startsWith(text, at)
    if (isThere) at += text.length
    return isThere
  }
  for (const found of recorded.matchAll(TAG)) {
    const secret = byTag.get(found[1]!)
    if (secret === undefined) continue
    if (!passes(recorded.slice(from, found.index))) return undefined
    if (!passes(found[0])) {
      if (!passes(secret.mask)) return undefined
      rules.add(secret.rule)
    }
    from = found.index + found[0].length
  }
  return passes(recorded.slice(from)) && at === asked.length ? [...rules] : undefined
}

export interface RecordedSecret extends Pick<BodyMask, "rule" | "tag"> {
  /** What stands in the stored body in its place. */
  readonly mask: string
}

export function secretsIn(bytes: Uint8Array, masks: readonly BodyMask[]): readonly RecordedSecret[] {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return masks.map(({ offset, length, rule, tag }) => ({
    rule,
    tag,
    mask: body.toString("utf8", offset, offset + length),
  }))
}

/** As `taggedBytes` writes it. */
const TAG = /…redacted:([^…]+)…/g
