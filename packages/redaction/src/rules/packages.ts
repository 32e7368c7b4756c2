import { named } from "./named.js"
import { shape } from "./shape.js"

/** Tokens of package registries. */
export const PACKAGE_RULES = [
  shape("npm-token", { about: "npm tokens", keywords: ["npm_"], pattern: /npm_[A-Za-z0-9]{36}/ }),
  shape("pypi-token", {
    about: "PyPI upload tokens",
    keywords: ["pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZ"],
    pattern: /pypi-(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZ)[\w-]{50,600}/,
  }),
  shape("rubygems-token", { about: "RubyGems tokens", keywords: ["rubygems_"], pattern: /rubygems_[0-9a-f]{48}/ }),
  shape("nuget-key", { about: "NuGet keys", keywords: ["oy2"], pattern: /oy2[a-z0-9]{43}/ }),
  shape("artifactory-key", {
    about: "Artifactory keys and reference tokens",
    keywords: ["AKCp", "cmVmd"],
    pattern: /AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59}/,
  }),
  shape("docker-hub-token", {
    about: "Docker Hub tokens",
    keywords: ["dckr_pat_", "dckr_oat_"],
    pattern: /dckr_[po]at_[\w-]{27,32}/,
  }),
  shape("crates-token", { about: "crates.io tokens", keywords: ["cio"], pattern: /cio[A-Za-z0-9]{32}/ }),
  shape("clojars-token", { about: "Clojars tokens", keywords: ["CLOJARS_"], pattern: /CLOJARS_[0-9a-z]{60}/ }),
  named("npmrc-token", {
    about: "Registry tokens in .npmrc",
    keywords: [":_authtoken", ":_auth", ":_password"],
    name: /:_(?:authToken|auth|password)/i,
    value: /[A-Za-z0-9+/_=-]{20,200}/,
  }),
]
