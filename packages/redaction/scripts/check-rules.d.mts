/** What is wrong with `rules.json`, or with the module written from it; empty where nothing is. */
export function checkRules(): string[]
export function patternsIn(value: object, place?: string): { place: string; pattern: string }[]
