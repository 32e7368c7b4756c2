export const PACKAGE_ORDER: readonly string[]
export function checkImports(root?: string): string[]
export function specifiersOf(source: string): string[]
export function findImports(root: string): { from: string; file: string; specifier: string }[]
export function packagesBehind(root: string, start: string): Set<string>
