import { canonicalHash } from "@orangebox/contract"
import type { Certificate } from "../generated.js"

/** The certificate with the id its content has. */
export function sealed(content: Omit<Certificate, "id">): Certificate {
  return { ...content, id: canonicalHash(content) }
}

export function hasItsId(certificate: Certificate): boolean {
  const { id, ...content } = certificate
  return canonicalHash(content) === id
}
