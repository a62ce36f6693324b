const BUILT = new URL('../dist/normalise.js', import.meta.url);

/**
 * The product's own way from text to terms, so that the vectors' terms are those that rows and questions are read into.
 * @returns {Promise<{toTerm: (word: string) => string | null, toTextTerms: (text: string) => string[]}>}
 * @throws when the resolver is not built.
 */
export async function loadNormaliser() {
  const { toTerm, toTextTerms } = await import(BUILT.href).catch((cause) => {
    throw new Error(`${BUILT.pathname} cannot be imported: run \`npm run build\` first`, { cause });
  });
  return { toTerm, toTextTerms };
}
