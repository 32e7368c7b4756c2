/** What a manifest says about the code that compiled it. Raise it whenever the same inputs would render another prompt. */
export const COMPILER_VERSION = "1.1.0"
/** `bundle_version` of seed model 1.0.0: fields are only ever added under the same major. */
export const BUNDLE_VERSION = "1.0.0"
export const MANIFEST_VERSION = "1.1.0"
/** All that can be read. */
export const MANIFEST_VERSIONS = ["1.0.0", MANIFEST_VERSION] as const
