import type { SweepRule } from "../rule.js"

/** Bank accounts by IBAN, plain or in groups of four, with a valid checksum. */
export const iban: SweepRule = {
  id: "pii-iban",
  about: "Bank accounts (IBAN, mod 97)",
  pattern: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g,
  longest: 48,
  accepts: (found) => isIban(found.replaceAll(" ", "")),
}

export function isIban(account: string): boolean {
  if (account.length < 15 || account.length > 34) return false
  let rest = 0
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
