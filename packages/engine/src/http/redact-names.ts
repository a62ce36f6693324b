/** A field name that says its value is a secret, once case and separators are gone. */
const SECRET_NAME =
  /authorization|cookie|token|secret|passw(?:or)?d|passphrase|^pwd$|apikey|accesskey|privatekey|signingkey|encryptionkey|credential|^xauth|^sessionid$|^sid$|^xshare$/;
/** Names that hold one of those words and yet describe rather than reveal. */
const HARMLESS_NAME =
  /^(?:token(?:type|endpoint|url|uri|izer|ization)|tokens?(?:count|limit|in|out|cached|used|total|max)|(?:max|min|num|total|input|output|prompt|completion|cached|reasoning)tokens?)$|(?:count|env|expiresin|expiresat|type|endpoint)$/;
/** Names whose numbers are measures (`max_tokens`), not secrets (`password: 1234`). */
const MEASURE_NAME = /token|cookie/;

/** Longer names are judged and not remembered. */
const NAME_CHARACTERS_MAX = 128;
/** The same few names come again and again: judging one costs more than looking it up. */
const judged = new Map<string, boolean>();
const JUDGED_MAX = 4_096;

/** Tells whether a field, header or parameter of that name holds a secret (`authorization`, `x-api-key`, `*token*` …). */
export function isSecretName(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const plain = toPlain(name);
  const isSecret = SECRET_NAME.test(plain) && !HARMLESS_NAME.test(plain);
  if (name.length > NAME_CHARACTERS_MAX) return isSecret;
  if (judged.size >= JUDGED_MAX) judged.clear();
  judged.set(name, isSecret);
  return isSecret;
}

/** Tells whether numbers under that secret name are counts and may stay. */
export function isMeasureName(name: string): boolean {
  return MEASURE_NAME.test(toPlain(name));
}

function toPlain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
