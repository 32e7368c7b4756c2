/** A value of a line: how it is read, member by member, and how it is written. `name` is what a complaint calls it. */
export interface Shape<T> {
  read(value: unknown, name: string): T
  write(value: T): unknown
}

export type ValueOf<S> = S extends Shape<infer T> ? T : never

export const text = scalar("text", (value): value is string => typeof value === "string")
export const number = scalar("a number", (value): value is number => typeof value === "number")
export const count = scalar(
  "a count",
  (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0,
)

export function oneOf<T extends string>(words: readonly T[]): Shape<T> {
  return scalar(`one of ${words.join(", ")}`, (value): value is T => words.includes(value as T))
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    read: (value, name) => (value === null ? null : shape.read(value, name)),
    write: (value) => (value === null ? null : shape.write(value)),
  }
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    read: (value, name) => A_LIST.read(value, name).map((item) => shape.read(item, name)),
    write: (items) => items.map((item) => shape.write(item)),
  }
}

/** Members are written in snake_case: `gapNo` is `gap_no` in the line. */
export function object<M extends { readonly [name: string]: Shape<unknown> }>(
  members: M,
): Shape<{ readonly [name in keyof M]: ValueOf<M[name]> }> {
  type Value = { readonly [name in keyof M]: ValueOf<M[name]> }
  const all = Object.entries(members).map(([key, shape]) => ({
    key,
    shape,
    written: key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  }))
  return {
    read(value, name) {
      const record = AN_OBJECT.read(value, name)
      return Object.fromEntries(
        all.map(({ key, shape, written }) => [key, shape.read(record[written], written)]),
      ) as Value
    },
    write: (value) => Object.fromEntries(all.map(({ key, shape, written }) => [written, shape.write(value[key])])),
  }
}

type JsonObject = Readonly<Record<string, unknown>>

export const AN_OBJECT = scalar(
  "an object",
  (value): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value),
)
export const A_LIST = scalar("a list", (value): value is readonly unknown[] => Array.isArray(value))

function scalar<T>(what: string, isSuch: (value: unknown) => value is T): Shape<T> {
  return {
    read(value, name) {
      if (isSuch(value)) return value
      throw new Error(`${name} is not ${what}`)
    },
    write: (value) => value,
  }
}
