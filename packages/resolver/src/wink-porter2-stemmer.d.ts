declare module 'wink-porter2-stemmer' {
  /** Stems one lower-case English word (Porter2). */
  const stem: (word: string) => string;
  export = stem;
}
