/** The run of a question. */
export const ADDRESS = {
  is: "text",
  isNeeded: true,
  about: "a run: its id, the beginning of it, any id recorded in it, last or last~1",
} as const

/** A step of it. */
export const STEP_NUMBER = { is: "count", least: 1, most: 2 ** 25, about: "the number of the step, its n" } as const
