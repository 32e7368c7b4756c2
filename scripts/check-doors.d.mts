export function checkDoors(root?: string): string[]
export function exportsOf(source: string): string[]
