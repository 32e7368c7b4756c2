import type { SweepRule } from "../rule.js"
import { card } from "./card.js"
import { email } from "./email.js"
import { iban } from "./iban.js"
import { ipv4, ipv6 } from "./ip-address.js"
import { phone } from "./phone.js"

/** What identifies people. Off unless asked for: most of it is what a developer debugs with. */
export const PII_RULES: readonly SweepRule[] = [email, phone, card, iban, ipv4, ipv6]
