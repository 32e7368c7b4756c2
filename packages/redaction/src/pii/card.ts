import type { SweepRule } from "../rule.js"

/** Payment card numbers, plain or in groups, with a valid check digit. */
export const card: SweepRule = {
  id: "pii-card",
  about: "Payment card numbers (Luhn)",
  pattern:
    /(?<![\w.-])[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w-])|(?<![\w.-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w-])/g,
  longest: 32,
  accepts: (found) => {
    const digits = found.replace(/\D/g, "")
    const isGrouped = digits === found || /^\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}$|^\d{4}([ -])\d{6}\2\d{5}$/.test(found)
    return isGrouped && digits.length >= 13 && digits.length <= 19 && hasValidCheckDigit(digits)
  },
}

export function hasValidCheckDigit(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const weighted = i % 2 === 0 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}
