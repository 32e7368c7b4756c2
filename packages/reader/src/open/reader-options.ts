/** Where a reader looks, and whom it tells how that goes. */
export interface ReaderOptions {
  /** The data folder, where it is not the one that is found from here. */
  readonly data?: string | undefined
  readonly onProgress?: (done: number, total: number | undefined, what: string) => void
  /** Hears what stood in the way of a whole answer, a sentence each. */
  readonly onWarning?: (message: string) => void
}
