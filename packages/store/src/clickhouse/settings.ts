/** Which ClickHouse holds the recordings of many machines, and as whom it is asked. */
export interface ClickhouseSettings {
  /** `https://host:8443`; `http:` only to this machine, or where `allowInsecure` says so. */
  readonly url: string
  readonly database: string
  readonly user?: string
  readonly password?: string
  /** The name of a cluster whose servers replicate the tables. */
  readonly cluster?: string
  /** PEM text of the authority that signed the server's certificate. */
  readonly certificateAuthority?: string
  readonly allowInsecure?: boolean
  /** Which collector this is: random, kept in its data folder. */
  readonly collectorId: string
  readonly host?: string
  /** Tells the key apart that this machine tags secrets with, without telling the key. All of one database have the same. */
  readonly tagKeyId?: string
}
