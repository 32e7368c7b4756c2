/**
 * The properties that have a value. An option that is not given must not be there at all, so a caller that hands options on names them
 * here, whether it has them or not.
 *
 *     given({ budget: undefined, cursor: 3 })   // { cursor: 3 }
 */
export function given<T extends object>(options: T): Given<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<T>
}

export type Given<T> = {
  readonly [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
} & { readonly [K in keyof T as undefined extends T[K] ? never : K]: T[K] }
