import type { SweepRule } from "../rule.js"

/** Numbers with a country code, and the two ways in which North America writes its own. A bare run of digits is no phone number. */
export const phone: SweepRule = {
  id: "pii-phone",
  about: "Phone numbers",
  pattern:
    /(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]?\d{2,4}){1,4}|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}-\d{3}-\d{4})(?![\w-])/g,
  longest: 48,
  accepts: (found) => {
    const digits = found.replace(/\D/g, "").length
    return digits >= 8 && digits <= 15
  },
}
