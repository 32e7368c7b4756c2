import { isMask } from "../mask.js"
import { isIban, isIpv6, isLuhn } from "./check-digits.js"
import { countLetterPairs } from "./letter-pairs.js"
import { isPlaceholder } from "./placeholder.js"
import type { Predicate } from "./rule-data.js"
import { isSecretValue, looksRandom } from "./secret-values.js"

export type Accepts = (secret: string) => boolean

/** What a list of predicates asks of a secret: all of them. */
export function acceptsAll(predicates: readonly Predicate[] = []): Accepts {
  const all = predicates.map(predicateOf)
  return (secret) => all.every((accepts) => accepts(secret))
}

function predicateOf(predicate: Predicate): Accepts {
  if ("matches" in predicate) {
    const pattern = new RegExp(predicate.matches)
    return (secret) => pattern.test(secret.slice(predicate.from ?? 0))
  }
  if ("lacks" in predicate) {
    const pattern = new RegExp(predicate.lacks)
    return (secret) => !pattern.test(secret.slice(predicate.from ?? 0))
  }
  if ("digits" in predicate) return (secret) => isWithin(secret.match(/\d/g)?.length ?? 0, predicate.digits)
  if ("length" in predicate) return (secret) => isWithin(secret.length, predicate.length)
  if ("is" in predicate) return CLAIMS[predicate.is]
  if ("not" in predicate) {
    const claim = predicate.not === "mask" ? isMask : isPlaceholder
    return (secret) => !claim(secret)
  }
  if ("random" in predicate) return (secret) => looksRandom(secret, predicate.random)
  if ("value" in predicate) return (secret) => isSecretValue(secret, predicate.value, predicate.written)
  if ("decodes" in predicate) {
    const pattern = new RegExp(predicate.decodes)
    return (secret) => pattern.test(Buffer.from(secret, "base64").toString("latin1"))
  }
  const lists = predicate.any.map(acceptsAll)
  return (secret) => lists.some((accepts) => accepts(secret))
}

const isWithin = (count: number, [least, most]: readonly [number, number]): boolean => count >= least && count <= most

/** Behind the prefix, which may have capitals of its own. */
const isMixedCase = (secret: string): boolean => /[a-z]/.test(secret.slice(4)) && /[A-Z]/.test(secret.slice(4))

const CLAIMS: { readonly [claim in Extract<Predicate, { is: unknown }>["is"]]: Accepts } = {
  "mixed-case": isMixedCase,
  drawn: (secret) => /\d/.test(secret.slice(4)) && isMixedCase(secret),
  "unlike-words": (secret) => {
    const { pairs, familiar } = countLetterPairs(secret)
    return familiar * 2 <= pairs
  },
  luhn: isLuhn,
  iban: isIban,
  ipv6: isIpv6,
}
