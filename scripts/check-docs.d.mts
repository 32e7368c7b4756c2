export function checkDocs(root?: string): string[]
export function pathsIn(markdown: string): string[]
