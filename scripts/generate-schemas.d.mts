export function filesOf(definitions: object, folder: string, isUnreleased?: boolean): Map<string, string>
