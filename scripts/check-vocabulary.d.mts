export interface Alias {
  readonly alias: string
  readonly word: string
}
export function checkVocabulary(root?: string): string[]
export function aliasesIn(glossary: string): Alias[]
export function aliasesUsed(text: string, avoided: readonly Alias[], file: string): string[]
