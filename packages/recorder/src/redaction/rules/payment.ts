import { shape } from "./shape.js"

/** Keys of payment and shop services. */
export const PAYMENT_RULES = [
  shape("stripe-key", {
    about: "Stripe keys",
    keywords: [
      "sk_live_",
      "sk_test_",
      "sk_prod_",
      "rk_live_",
      "rk_test_",
      "rk_prod_",
      "pk_live_",
      "pk_test_",
      "whsec_",
    ],
    pattern: /(?:[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,120}|whsec_[A-Za-z0-9+/]{24,64}={0,2})/,
  }),
  shape("square-token", {
    about: "Square tokens",
    keywords: ["sq0atp-", "sq0csp-", "sq0idp-", "EAAA"],
    pattern: /sq0(?:atp|csp|idp)-[\w^-]{22,60}|EAAA[\w-]{60}/,
  }),
  shape("shopify-token", {
    about: "Shopify tokens",
    keywords: ["shpat_", "shpca_", "shppa_", "shpss_", "shpua_"],
    pattern: /shp(?:at|ca|pa|ss|ua)_[A-Za-z0-9]{32,40}/,
  }),
  shape("plaid-token", {
    about: "Plaid tokens",
    keywords: ["access-sandbox-", "access-development-", "access-production-"],
    pattern: /access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
  }),
  shape("flutterwave-key", {
    about: "Flutterwave keys",
    keywords: ["FLWSECK", "FLWPUBK"],
    pattern: /FLW(?:SECK|PUBK)(?:_TEST|_LIVE)?-(?:[0-9a-fh]{32}-X|[0-9a-fh]{12})/i,
  }),
  shape("paypal-braintree-token", {
    about: "Braintree tokens",
    keywords: ["access_token$"],
    pattern: /access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}/,
  }),
  shape("razorpay-key", { about: "Razorpay keys", keywords: ["rzp_"], pattern: /rzp_(?:live|test)_[A-Za-z0-9]{14}/ }),
  shape("easypost-key", { about: "EasyPost keys", keywords: ["EZAK", "EZTK"], pattern: /EZ[AT]K[A-Za-z0-9]{54}/ }),
  shape("gocardless-token", {
    about: "GoCardless tokens",
    keywords: ["live_", "sandbox_"],
    pattern: /(?:live|sandbox)_[A-Za-z0-9_=-]{40}/,
    accepts: (secret) => /\d[a-zA-Z]{1,8}\d/.test(secret),
  }),
]
