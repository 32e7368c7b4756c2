import type { SweepRule } from "../rule.js"

export const email: SweepRule = {
  id: "pii-email",
  about: "E-mail addresses",
  pattern: /(?<![\w.+%-])[\w.+%-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}(?![\w-])/g,
  longest: 400,
}
