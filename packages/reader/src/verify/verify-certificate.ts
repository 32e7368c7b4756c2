import { type Certificate, type Recheck, recheckCertificate } from "@orangebox/replay"
import type { ReaderOptions } from "../open/data-folder.js"
import { loadSource } from "../replay/replay-source.js"

/**
 * A certificate against the recordings it speaks about, every field worked out again.
 *
 * @param address where its source is, when that is not in the store: an exported file
 */
export async function recheckAt(options: ReaderOptions, certificate: Certificate, address?: string): Promise<Recheck> {
  const source = await loadSource(options, address ?? certificate.source_run)
  const replay = certificate.replay_run === null ? undefined : await loadSource(options, certificate.replay_run)
  return recheckCertificate(certificate, source.recording, replay?.recording)
}
