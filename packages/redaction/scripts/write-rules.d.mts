export function rulesModule(): string
