/** Runs of letters, of digits, of white space, of other ASCII, and single characters beyond ASCII. */
const PIECES = /[a-z]+|[A-Z]+|[0-9]+|\s+|[!-/:-@[-`{-~]+|[\s\S]/gu;
const VOWELS = /[aeiouy]/;

/** Letters of one token in words that look like words; in others, such as hashes, there are few. */
const LETTERS_PER_TOKEN = 13;
const NOISE_PER_TOKEN = 1.5;
const DIGITS_PER_TOKEN = 3;
const SIGNS_PER_TOKEN = 1.5;
/** The quotes, colons and commas of JSON stand together in one. */
const SIGNS_TOGETHER_MAX = 3;

/**
 * About how many tokens (o200k_base) a text takes, rather too many than too few: what an answer may cost has to be known
 * before it is sent, and a tokenizer takes 50 MB and more time than the search.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECES)) tokens += tokensOf(piece);
  return Math.ceil(tokens);
}

function tokensOf(piece: string): number {
  const code = piece.codePointAt(0) ?? 0;
  if (code > 0xffff) return 4;
  if (code > 0x7ff) return isOften(code) ? 2 : 3;
  if (code > 0x7f) return 1;
  if (isDigit(code)) return Math.ceil(piece.length / DIGITS_PER_TOKEN);
  if (isLetter(code))
    return isWordLike(piece) ? Math.ceil(piece.length / LETTERS_PER_TOKEN) : piece.length / NOISE_PER_TOKEN;
  return code <= 0x20
    ? piece.length === 1
      ? 0.1
      : 1
    : piece.length <= SIGNS_TOGETHER_MAX
      ? 1
      : piece.length / SIGNS_PER_TOKEN;
}

/** Of the scripts of Chinese, Japanese and Korean: what is beyond them takes a token for each of its bytes. */
const isOften = (code: number): boolean => (code >= 0x3000 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3);
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
const isWordLike = (piece: string): boolean =>
  piece.length <= 3 || (piece.length <= 16 && VOWELS.test(piece.toLowerCase().slice(0, 4)));
