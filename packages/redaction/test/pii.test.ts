import { expect, test } from "vitest"
import { createRuleset, redactText } from "../src/index.js"
import { KEY, ruleset } from "./fake-secrets.js"

const withPii = createRuleset({ key: KEY, pii: true })
const rulesIn = (text: string) => redactText(text, withPii).masks.map(({ rule }) => rule)

test.each([
  ["pii-email", "write to ada.lovelace+x@mail.example.co.uk today"],
  ["pii-phone", "call +44 20 7946 0958 now"],
  ["pii-phone", "call (212) 555-0123"],
  ["pii-phone", "call 212-555-0123."],
  ["pii-card", "card 4111 1111 1111 1111"],
  ["pii-card", "card 378282246310005, exp 12/30"],
  ["pii-iban", "to DE89 3704 0044 0532 0130 00"],
  ["pii-iban", "to GB82WEST12345698765432"],
  ["pii-ip", "from 8.8.4.4 again"],
  ["pii-ipv6", "from 2a00:1450:4001:81b::200e again"],
])("[X-08] %s is found: %s", (rule, text) => {
  expect(rulesIn(text)).toEqual([rule])
})

test.each([
  ["a card number with a wrong check digit", "4111 1111 1111 1112"],
  ["an IBAN with a wrong checksum", "DE88 3704 0044 0532 0130 00"],
  ["a version", "version 1.2.3.4.5 and 10.15.7"],
  ["loopback and documentation addresses", "127.0.0.1 0.0.0.0 192.0.2.7 ::1"],
  ["times and dates", "2024-01-31T12:34:56.789Z 12:34:56"],
  ["an id", "order 20240131-1234567 and 1234567890123456"],
  ["a decorator", "@app.route('/x') user@localhost"],
])("[X-08] %s is none of it", (_, text) => {
  expect(rulesIn(text)).toEqual([])
})

test("[X-08] the pack is off unless asked for", () => {
  expect(redactText("ada@example.com 4111 1111 1111 1111", ruleset).masks).toEqual([])
})
