import { hasDigit, looksDrawn, shape } from "./shape.js"

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
  shape("mollie-key", {
    about: "Mollie keys",
    keywords: ["live_", "test_"],
    pattern: /(?:live|test)_[A-Za-z0-9]{30}/,
    accepts: looksDrawn,
  }),
  shape("paddle-key", {
    about: "Paddle keys",
    keywords: ["pdl_live_", "pdl_sdbx_"],
    pattern: /pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}/,
  }),
  shape("checkout-key", {
    about: "Checkout.com keys",
    keywords: ["sk_"],
    pattern: /sk_(?:sbox_)?[a-z2-7]{26}[a-z2-7*#$=]/,
    accepts: hasDigit,
  }),
  shape("woocommerce-key", { about: "WooCommerce keys", keywords: ["ck_", "cs_"], pattern: /c[ks]_[0-9a-f]{40}/ }),
  shape("adyen-key", {
    about: "Adyen keys",
    keywords: ["AQE"],
    pattern: /AQE[a-z][A-Za-z0-9+/._-]{90,220}={0,2}/,
    accepts: looksDrawn,
  }),
  shape("gocardless-token", {
    about: "GoCardless tokens",
    keywords: ["live_", "sandbox_"],
    pattern: /(?:live|sandbox)_[A-Za-z0-9_=-]{40}/,
    accepts: (secret) => /\d[a-zA-Z]{1,8}\d/.test(secret),
  }),
]
