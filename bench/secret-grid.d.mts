type Draw = (length: number, alphabet?: string) => string
export function drawer(seed: number): Draw
export const SECRETS: { readonly [kind: string]: (draw: Draw) => { readonly name: string; readonly secret: string } }
export const CONTEXTS: { readonly [context: string]: (name: string, secret: string) => string }
export const DRESSES: { readonly [dress: string]: (text: string, secret: string) => string }
export interface Cell {
  readonly text: string
  /** The part of the text that is the secret's. */
  readonly secret: string
  /** The same of another secret. */
  readonly other: string
}
export function cell(context: string, dress: string, kind: string, seed: number): Cell
export function leaks(redacted: string, cell: Cell): boolean
