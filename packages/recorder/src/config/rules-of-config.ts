import type { RedactionRules } from "@orangebox/contract"
import type { UserRules } from "@orangebox/redaction"

/** The rules a configuration adds to the built-in ones, as the redaction takes them. */
export function rulesOfConfig({ deny, allow, keys, values }: RedactionRules): UserRules {
  return {
    ...(deny === undefined ? {} : { deny: deny.map(withoutUndefined) }),
    ...(allow === undefined ? {} : { allow }),
    ...(keys === undefined ? {} : { keys: keys.map(withoutUndefined) }),
    ...(values === undefined ? {} : { values: values.map(withoutUndefined) }),
  }
}

/** A setting that was left out is not there, instead of being there as undefined. */
type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

function withoutUndefined<T extends object>(rule: T): Defined<T> {
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)) as Defined<T>
}
