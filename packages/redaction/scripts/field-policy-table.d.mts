export const MARKED: RegExp
export function fieldPolicyTable(redaction: {
  readonly FIELD_POLICIES: { readonly [type: string]: { readonly [field: string]: string } }
  readonly effectOfDrop: (type: never, field: string) => string
  readonly refFieldsOf: (type: never) => readonly string[]
}): string
