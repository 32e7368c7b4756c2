export function samples(): readonly (readonly [document: string, name: string, text: string])[]
export function sampleIn(document: string, name: string): string | undefined
