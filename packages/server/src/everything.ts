/** Views keep to a budget of tokens because models read them; a page shows what fits on it and asks for the rest of a list itself. */
export const EVERYTHING = { budget: 100_000_000 } as const
