export function checkVocabulary(root?: string): string[]
