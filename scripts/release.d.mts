export function withVersion(
  manifest: object,
  version: string,
): { readonly version: string; readonly dependencies?: object }
export function datedChangelog(text: string, version: string, day: string): string | undefined
