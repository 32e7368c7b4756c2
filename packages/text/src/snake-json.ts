/**
 * A view as published JSON: names in the contract's style, and unknown as an explicit null, because a missing key reads like "does not
 * apply". Only for views, whose keys are all ours; recorded objects keep their keys.
 */
export function snakeJson<T>(value: T): SnakeJson<T> {
  return convert(value) as SnakeJson<T>
}

export type SnakeJson<T> = T extends readonly (infer Entry)[]
  ? readonly SnakeJson<Entry>[]
  : T extends object
    ? { readonly [Key in keyof T as Key extends string ? SnakeKey<Key> : never]: SnakeJson<T[Key]> }
    : T extends undefined
      ? null
      : T

type SnakeKey<Key extends string> = Key extends `${infer Head}${infer Rest}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeKey<Rest>}`
    : `_${Lowercase<Head>}${SnakeKey<Rest>}`
  : Key

function convert(value: unknown): unknown {
  if (value === undefined) return null
  if (Array.isArray(value)) return value.map(convert)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeKey(key), convert(inner)]))
}

const snakeKey = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
