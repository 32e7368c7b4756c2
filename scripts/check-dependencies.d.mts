export function checkDependencies(root?: string): string[]
export function compare(
  manifest: { name: string; dependencies?: Record<string, string> },
  used: ReadonlySet<string>,
  inside?: ReadonlySet<string>,
): string[]
